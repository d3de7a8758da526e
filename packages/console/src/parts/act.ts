/** A change in its two forms, made together so that both say the same: as it is sent, and as the command line says it. */
import type { ChangingMethod, PathWith, Planned } from '../api/client.ts';

export interface PlannedAct<M extends ChangingMethod, P extends PathWith<M>> {
  readonly planned: Planned<M, P>;
  /** Words after `cairn`. */
  readonly cli: readonly string[];
}

/** The typed reason as it is sent; an empty one is left out. */
export function reasonOf(typed: string): { readonly reason?: string } {
  const reason = typed.trim();
  return reason === '' ? {} : { reason };
}
