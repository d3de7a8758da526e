/** How stored values read in an answer: as `core/run/readable.ts` says, which published events follow too. */
import { iso } from '../../core/run/readable.ts';

export { fromText, iso, readable } from '../../core/run/readable.ts';

export function isoIf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : iso(ms);
}
