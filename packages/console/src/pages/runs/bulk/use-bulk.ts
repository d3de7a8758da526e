/**
 * One change of many runs, from finding out which to the outcome of each. Owns its stages, and that each run has one
 * idempotency key for as long as the dialog is open: sent again, a request repeats nothing.
 */
import { type Sent, sendAll } from '@cairn/client';
import { useEffect, useRef, useState } from 'react';
import { type Api, planned } from '../../../api/client.ts';
import { refusalOf } from '../../../api/problem.ts';
import { useSession } from '../../../session/session.ts';
import type { RunFilter } from '../filter/filter.ts';
import { readPage } from '../list/use-first-page.ts';
import type { RunRow } from '../row.ts';
import { MOST_CHOSEN, type Selection } from '../selection.ts';
import { bodyOf } from './loop-text.ts';
import { type BulkMode, cancelVerdict, filtersFor, resumeVerdict, type Verdict } from './plan.ts';

export interface Target {
  readonly row: RunRow;
  /** Undefined: it is not known yet. */
  readonly verdict?: Verdict | undefined;
  readonly sent?: Sent<Sendable> | undefined;
}

/** A request of the bulk change: its text and its run. */
export interface Sendable {
  readonly what: string;
  readonly runId: string;
}

export type Stage = 'finding' | 'looking' | 'ready' | 'sending' | 'over' | 'broken';

export interface Bulk {
  readonly stage: Stage;
  readonly targets: readonly Target[];
  /** More match than are changed at once. */
  readonly isCut: boolean;
  /** Why it is broken. */
  readonly error?: unknown;
  /** Pause of all requests, ms. */
  readonly pausedMs?: number | undefined;
  /** Names this change, in the keys of its requests. */
  readonly batch: string;
  send(reason: string | undefined): void;
  /** Sends no more; requests under way finish. */
  stop(): void;
}

export function useBulk(mode: BulkMode, of: Selection | RunFilter): Bulk {
  const { api } = useSession();
  const [stage, setStage] = useState<Stage>('finding');
  const [targets, setTargets] = useState<readonly Target[]>([]);
  const [isCut, setCut] = useState(false);
  const [error, setError] = useState<unknown>();
  const [pausedMs, setPausedMs] = useState<number>();
  const [batch] = useState(() => `console-${crypto.randomUUID()}`);
  const stopping = useRef(new AbortController());

  const change = (id: string, part: Partial<Target>) =>
    setTargets((before) => before.map((one) => (one.row.id === id ? { ...one, ...part } : one)));

  // What is hit is decided when the dialog opens: what changes behind it later changes nothing of what was agreed to.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    const over = new AbortController();
    const { signal } = over;
    const find = async () => {
      const found = isSelection(of)
        ? { rows: [...of.values()], isCut: false }
        : await matching(api, { mode, filter: of, signal });
      if (signal.aborted) return;
      setCut(found.isCut);
      const verdictOf = mode === 'cancel' ? cancelVerdict : () => undefined;
      setTargets(found.rows.map((row) => ({ row, verdict: verdictOf(row) })));
      if (mode === 'resume') {
        setStage('looking');
        await look(found.rows, signal);
      }
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

  const look = (rows: readonly RunRow[], signal: AbortSignal) =>
    sendAll(rows, {
      work: ({ id }) => api.change(previewOf(id), `${batch}-look-${id}`),
      onSent: ({ id }, sent) => {
        if (sent.at === 'done') change(id, { verdict: resumeVerdict(sent.answer) });
        if (sent.at === 'failed') change(id, { verdict: { isHit: false, why: messageOf(sent.error) } });
      },
      onPause: setPausedMs,
      refusalOf,
      signal,
    });

  const send = async (reason: string | undefined) => {
    stopping.current = new AbortController();
    const { signal } = stopping.current;
    setStage('sending');
    const open = targets.filter(({ verdict, sent }) => verdict?.isHit && sent?.at !== 'done');
    for (const { row } of open) change(row.id, { sent: { at: 'waiting' } });
    await sendAll(
      open.map(({ row }) => row.id),
      {
        work: (id) => sendOne(api, { mode, id, reason, key: `${batch}-${id}` }),
        onSent: (id, sent) => change(id, { sent }),
        onPause: setPausedMs,
        refusalOf,
        signal,
      },
    );
    setStage('over');
  };

  return {
    stage,
    targets,
    isCut,
    error,
    pausedMs,
    batch,
    send: (reason) => void send(reason),
    stop: () => stopping.current.abort(),
  };
}

function isSelection(of: Selection | RunFilter): of is Selection {
  return of instanceof Map;
}

interface Match {
  readonly mode: BulkMode;
  readonly filter: RunFilter;
  readonly signal: AbortSignal;
}

/** The newest that match, of each status that is meant, up to the most. */
async function matching(api: Api, { mode, filter, signal }: Match) {
  const rows: RunRow[] = [];
  for (const one of filtersFor(mode, filter)) {
    let cursor: string | undefined;
    do {
      const page = await readPage(api, { filter: one, cursor, signal });
      rows.push(...page.rows);
      cursor = page.next;
      if (rows.length > MOST_CHOSEN || (rows.length === MOST_CHOSEN && cursor !== undefined))
        return { rows: rows.slice(0, MOST_CHOSEN), isCut: true };
    } while (cursor !== undefined);
  }
  return { rows, isCut: false };
}

function previewOf(id: string) {
  return planned('POST', '/v1/runs/{id}/preview', { params: { id }, body: { mode: 'resume' } });
}

interface One {
  readonly mode: BulkMode;
  readonly id: string;
  readonly reason: string | undefined;
  readonly key: string;
}

async function sendOne(api: Api, { mode, id, reason, key }: One): Promise<Sendable> {
  const body = bodyOf({ mode, reason });
  if (mode === 'cancel') {
    const { status } = await api.change(
      planned('POST', '/v1/runs/{id}/cancel', { params: { id }, body }),
      key,
    );
    return { what: status === 'cancelled' ? 'cancelled' : 'told to stop', runId: id };
  }
  const resumed = await api.change(planned('POST', '/v1/runs/{id}/resume', { params: { id } }), key);
  if ('outcome' in resumed) {
    return { what: resumed.outcome === 'resumed' ? 'goes on' : 'is running already', runId: id };
  }
  return { what: 'goes on as a new run', runId: resumed.runId };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
