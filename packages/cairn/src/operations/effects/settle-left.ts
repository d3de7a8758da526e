/**
 * Records a person's resolution of an effect that an ended run left in doubt. Only the row of the ledger is settled, on the
 * condition that its version is unchanged: nothing is appended to a run after its end (J6). Successors of the run read the row.
 *
 * Must not: validate the resolution, or handle a repetition; see resolve-effect.ts.
 */
import { CairnError } from '../../core/errors.ts';
import { isOver, type RunState } from '../../core/run/state.ts';
import { EffectMoved, type JournalDeps } from '../../journal/run-journal.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import type { EffectStore, StoredEffect } from '../../ports/runs/effect-store.ts';
import { removeFromInbox } from '../inbox/remove-from-inbox.ts';
import { type Resolving, resolutionOf, waitFor } from './resolution-events.ts';

/** The run has ended with the effect in doubt. */
type LeftSettling = Pick<Resolving, 'state' | 'stored' | 'request' | 'content'>;

/**
 * @returns time of the settlement, epoch ms
 * @throws EffectMoved if the row was changed concurrently; CairnError RUN_TERMINAL_STATE, RUN_INVALID_TRANSITION,
 * UNAVAILABLE
 */
export async function settleLeft(
  deps: JournalDeps & { readonly effects: EffectStore },
  { state, stored, request, content }: LeftSettling,
): Promise<number> {
  if (request.outcome === 're-execute') throw callsNothing(state);
  await assertAskedByNobody(deps, stored);
  const now = deps.clock.now();
  const { effectId, runId } = stored.record;
  const change = resolutionOf({ stored, request, content, now });
  const { kind } = await sendUntilKnown(deps, () => deps.effects.change(effectId, stored.version, change));
  if (kind === 'stale') throw new EffectMoved(effectId);
  await removeFromInbox(deps, runId);
  return now;
}

function callsNothing({ id, status }: RunState): CairnError {
  return new CairnError('RUN_TERMINAL_STATE', `run ${id} is ${status} and makes no more calls`, {
    help: 'Resume, replay or fork the run to repeat the call, or report whether it took effect (recorded) or not (failed).',
    details: { status },
  });
}

/** A live run that asks about the effect needs the answer in its own journal: otherwise it would wait forever. */
async function assertAskedByNobody(
  deps: JournalDeps,
  { record: { askedBy, effectId } }: StoredEffect,
): Promise<void> {
  if (askedBy === undefined) return;
  const asking = await sendUntilKnown(deps, () => deps.store.load(askedBy));
  if (!asking || isOver(asking.state) || !waitFor(asking.state, effectId)) return;
  throw new CairnError(
    'RUN_INVALID_TRANSITION',
    `run ${askedBy} continues this run and asks about the effect`,
    { help: `Resolve it on run ${askedBy}.`, details: { runId: askedBy } },
  );
}
