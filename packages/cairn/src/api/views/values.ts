/** Stored values in responses, following `core/run/readable.ts` like published events. */
import { iso } from '../../core/run/readable.ts';

export { fromText, iso, readableValue } from '../../core/run/readable.ts';

export function isoIf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : iso(ms);
}
