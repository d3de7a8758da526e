/**
 * One bulk change, from the selection of runs to the outcome of each. Owns its stages. All requests of an open dialog belong
 * to one batch, so a repeated request changes no run twice.
 */
import { type BulkResult, randomKey, type Sent, sendBulk } from '@cairn/client';
import { useEffect, useRef, useState } from 'react';
import { type Api, planned } from '../../../api/client.ts';
import { messageOf, refusalOf, shownError } from '../../../api/problem.ts';
import { useSession } from '../../../session/session.ts';
import type { RunListFilter } from '../filter/filter.ts';
import { PAGE } from '../list/query-keys.ts';
import { readPage } from '../list/use-first-page.ts';
import { MAX_EMPTY } from '../list/use-older-pages.ts';
import type { RunRow } from '../row.ts';
import { MAX_CHOSEN, type Selection } from '../selection.ts';
import { type BulkRun, bulkRequestBody } from './commands.ts';
import { type BulkMode, filtersFor, restingFilter, type TargetDecision, targetDecision } from './plan.ts';
import { type LeftOut, MAX_SEARCHED } from './words.ts';

export interface BulkRow {
  readonly row: RunRow;
  /** Undefined: it is not known yet. */
  readonly decision?: TargetDecision | undefined;
  readonly sent?: Sent<BulkResult> | undefined;
}

export type BulkStage = 'finding' | 'checking' | 'ready' | 'sending' | 'over' | 'broken';

export interface Bulk {
  readonly stage: BulkStage;
  readonly targets: readonly BulkRow[];
  /** The reason why not all that match are listed. */
  readonly leftOut?: LeftOut | undefined;
  /** The reason why it is broken. */
  readonly error?: unknown;
  /** Pause of all requests, ms. */
  readonly pausedMs?: number | undefined;
  /** Names this change, in its requests. */
  readonly batch: string;
  send(reason: string | undefined): void;
  /** Stops sending; current requests finish. */
  stop(): void;
}

export function useBulk(mode: BulkMode, of: Selection | RunListFilter): Bulk {
  const { api } = useSession();
  const [stage, setStage] = useState<BulkStage>('finding');
  const [targets, setTargets] = useState<readonly BulkRow[]>([]);
  const [leftOut, setLeftOut] = useState<LeftOut>();
  const [error, setError] = useState<unknown>();
  const [pausedMs, setPausedMs] = useState<number>();
  const [batch] = useState(() => `console-${randomKey()}`);
  const stopping = useRef(new AbortController());

  const update = (id: string, part: Partial<BulkRow>) =>
    setTargets((before) => before.map((one) => (one.row.id === id ? { ...one, ...part } : one)));

  // The runs are fixed when the dialog opens, so that later changes of the list do not change what the person agrees to.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const over = new AbortController();
    const { signal } = over;
    const find = async () => {
      const found = isSelection(of)
        ? { rows: [...of.values()] }
        : await matching(api, { mode, filter: of, signal });
      if (signal.aborted) return;
      setLeftOut(found.leftOut);
      setTargets(found.rows.map((row) => ({ row })));
      setStage('checking');
      await search(found.rows, signal);
      if (!signal.aborted) setStage('ready');
    };
    find().catch((failure: unknown) => {
      if (signal.aborted) return;
      setError(failure);
      setStage('broken');
    });
    return () => {
      over.abort();
      stopping.current.abort();
    };
  }, []);

  const search = (rows: readonly RunRow[], signal: AbortSignal) =>
    sendBulk(
      rows.map(({ id }) => id),
      {
        send: (ids) =>
          api.preview(
            planned('POST', '/v1/runs/bulk', { body: { act: mode, runs: [...ids], dryRun: true } }),
          ),
        onSent: (id, sent) => {
          if (sent.at === 'done') update(id, { decision: targetDecision(sent.answer) });
          if (sent.at === 'failed')
            update(id, { decision: { isIncluded: false, why: messageOf(shownError(sent.error)) } });
        },
        onPause: setPausedMs,
        refusalOf,
        signal,
      },
    );

  const send = async (reason: string | undefined) => {
    stopping.current = new AbortController();
    const { signal } = stopping.current;
    const change = api.changer();
    setStage('sending');
    const open = hitBy(targets).filter(({ sent }) => sent?.at !== 'done');
    for (const { id } of open) update(id, { sent: { at: 'waiting' } });
    await sendBulk(open, {
      send: (runs) =>
        change(
          planned('POST', '/v1/runs/bulk', { body: bulkRequestBody({ mode, runs, batch, reason }) }),
          randomKey(),
        ),
      onSent: ({ id }, sent) => update(id, { sent }),
      onPause: setPausedMs,
      refusalOf,
      signal,
    });
    setStage('over');
  };

  return {
    stage,
    targets,
    leftOut,
    error,
    pausedMs,
    batch,
    send: (reason) => void send(reason),
    stop: () => stopping.current.abort(),
  };
}

/** The runs to change, with the question that is answered. */
export function hitBy(targets: readonly BulkRow[]): readonly (BulkRun & Pick<BulkRow, 'sent'>)[] {
  return targets.flatMap(({ row, decision, sent }) =>
    decision?.isIncluded ? [{ id: row.id, question: decision.question, sent }] : [],
  );
}

function isSelection(of: Selection | RunListFilter): of is Selection {
  return of instanceof Map;
}

interface BulkMatch {
  readonly mode: BulkMode;
  readonly filter: RunListFilter;
  readonly signal: AbortSignal;
}

/** The newest matching runs of each status that the change applies to, up to the limit. */
async function matching(
  api: Api,
  { mode, filter, signal }: BulkMatch,
): Promise<{ readonly rows: readonly RunRow[]; readonly leftOut?: LeftOut | undefined }> {
  const rows: RunRow[] = [];
  const resting = restingFilter(mode, filter);
  let leftOut: LeftOut | undefined;
  for (const one of [...filtersFor(mode, filter), ...(resting ? [resting] : [])]) {
    let cursor: string | undefined;
    let searched = 0;
    let empty = 0;
    const isSparse = one === resting || one.cause !== undefined;
    const isEnough = () =>
      isSparse ? searched >= MAX_SEARCHED : filter.match !== undefined && empty === MAX_EMPTY;
    do {
      const page = await readPage(api, { filter: one, cursor, signal });
      rows.push(...(one === resting ? page.rows.filter(({ isResting }) => isResting) : page.rows));
      cursor = page.next;
      searched += PAGE;
      empty = page.rows.length === 0 ? empty + 1 : 0;
      if (rows.length > MAX_CHOSEN || (rows.length === MAX_CHOSEN && cursor !== undefined))
        return { rows: rows.slice(0, MAX_CHOSEN), leftOut: 'too many' };
    } while (cursor !== undefined && !isEnough());
    if (cursor !== undefined) leftOut = isSparse ? 'not searched' : 'not read';
  }
  return { rows, leftOut };
}
