/** Memos of a step in a list. Pure. */
import { ago } from '@cairn/client';
import type { Answer } from 'cairn/api/calls';
import type { OutputShape } from '../context.ts';
import { table } from '../render/table.ts';

/** @param now epoch ms */
export function memoTable(memos: readonly Answer<'Memo'>[], now: number, shape: OutputShape): string {
  return table(
    memos,
    [
      { title: 'MEMO', of: ({ name }) => name, least: 12 },
      { title: 'RECORDED', of: ({ recordedAt }) => ago(recordedAt, now), align: 'right', dropOrder: 1 },
      { title: 'VALUE', of: ({ value }) => JSON.stringify(value), least: 16 },
    ],
    shape,
  );
}
