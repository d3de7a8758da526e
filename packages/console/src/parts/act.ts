/** A change as a request and as a command, made together so that both agree. */
import { type Change, type ChangingMethod, type PathWith, type Planned, planned } from '../api/client.ts';

export interface PlannedAct<M extends ChangingMethod, P extends PathWith<M>> {
  readonly planned: Planned<M, P>;
  /** Words after `cairn`. */
  readonly cli: readonly string[];
}

interface ActOptions<M extends ChangingMethod, P extends PathWith<M>> extends Pick<PlannedAct<M, P>, 'cli'> {
  readonly change?: Change<M, P>;
}

/** The change of one route with its command, as data, so that the shown command is exactly what is sent. */
export function plannedAct<M extends ChangingMethod, P extends PathWith<M>>(
  method: M,
  path: P,
  { change, cli }: ActOptions<M, P>,
): PlannedAct<M, P> {
  return { planned: planned(method, path, change), cli };
}

/** The typed reason for the request; an empty one is left out. */
export function reasonOf(typed: string): { readonly reason?: string } {
  const reason = typed.trim();
  return reason === '' ? {} : { reason };
}
