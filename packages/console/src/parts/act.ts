/** A change as a request and as a command, made together so that both agree. */
import type { ChangingMethod, PathWith, Planned } from '../api/client.ts';

export interface PlannedAct<M extends ChangingMethod, P extends PathWith<M>> {
  readonly planned: Planned<M, P>;
  /** Words after `cairn`. */
  readonly cli: readonly string[];
}

/** The typed reason for the request; an empty one is left out. */
export function reasonOf(typed: string): { readonly reason?: string } {
  const reason = typed.trim();
  return reason === '' ? {} : { reason };
}
