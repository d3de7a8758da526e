/** Rows of the side-effect ledger in a list. Pure. */
import { ago, attemptKey } from '@cairn/client';
import type { Answer } from 'cairn/api/calls';
import type { OutputShape } from '../context.ts';
import { statusTone } from '../render/style.ts';
import { table } from '../render/table.ts';

/** @param now epoch ms */
export function effectTable(effects: readonly Answer<'Effect'>[], now: number, shape: OutputShape): string {
  return table(
    effects,
    [
      // A prefix is enough to name it: see commands/effects.ts.
      { title: 'EFFECT', of: ({ effectId }) => effectId, least: 12 },
      { title: 'STEP', of: attemptKey, least: 10, dropOrder: 3 },
      { title: 'CAPABILITY', of: ({ capabilityId }) => capabilityId, least: 10, dropOrder: 4 },
      {
        title: 'STATUS',
        of: statusText,
        tone: (effect) => statusTone(isInDoubt(effect) ? 'in_doubt' : effect.status),
      },
      { title: 'WHEN', of: ({ updatedAt }) => ago(updatedAt, now), align: 'right', dropOrder: 1 },
      { title: 'DETAIL', of: detailText, least: 12, dropOrder: 2 },
    ],
    shape,
  );
}

/** The status alone does not tell: a call in progress has the same. An effect in doubt also has a question. */
function isInDoubt({ status, blockedBy, resolution }: Answer<'Effect'>): boolean {
  const isOpen = status === 'blocked' && blockedBy === 'doubt' && resolution === undefined;
  return status === 'attempted' || isOpen;
}

function statusText({ status, blockedBy, resolution }: Answer<'Effect'>): string {
  if (resolution) return `${status} (${resolution.outcome} by ${resolution.by})`;
  if (status === 'attempted') return 'attempted, no answer known';
  return blockedBy === undefined ? status : `${status} (${blockedBy})`;
}

function detailText({ error, result, originEffectId, recordedResultRef }: Answer<'Effect'>): string {
  if (error !== undefined) return error;
  if (originEffectId !== undefined) return `from ${originEffectId}`;
  if (recordedResultRef) return `${recordedResultRef.bytes} bytes`;
  return result === undefined ? '' : JSON.stringify(result);
}
