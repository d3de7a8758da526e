/** A change as a request and as a command, made together so that both agree. */
import { type Change, type ChangingMethod, type PathWith, type Planned, planned } from '../api/client.ts';

export interface PlannedAct<M extends ChangingMethod, P extends PathWith<M>> {
  readonly planned: Planned<M, P>;
  /** Words after `cairn`. */
  readonly cli: readonly string[];
}

export function plannedAct<M extends ChangingMethod, P extends PathWith<M>>(
  method: M,
  path: P,
  { cli, ...change }: Change<M, P> & Pick<PlannedAct<M, P>, 'cli'>,
): PlannedAct<M, P> {
  return { planned: planned(method, path, change as unknown as Change<M, P>), cli };
}

/** The typed reason for the request; an empty one is left out. */
export function reasonOf(typed: string): { readonly reason?: string } {
  const reason = typed.trim();
  return reason === '' ? {} : { reason };
}
