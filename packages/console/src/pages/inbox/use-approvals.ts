/** Approvals of the inbox: sent a few seconds after the click, together with those that were approved with them. */
import { randomKey, sendBulk } from '@cairn/client';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { planned } from '../../api/client.ts';
import { refusalOf, shownError } from '../../api/problem.ts';
import type { RefusedApproval } from '../../session/late-outcomes.ts';
import { useSession } from '../../session/session.ts';
import { ApprovalQueue } from './approval-queue.ts';
import { type InboxItem, itemKeyOf } from './item.ts';

/** The request has no batch, because a repeated decision has no further effect. */
function approvalOf(items: readonly InboxItem[]) {
  const runs = items.map(({ runId, step, waitId }) => ({ runId, stepId: step, waitId }));
  return planned('POST', '/v1/runs/bulk', { body: { act: 'approve', runs } });
}

function refusedApproval(item: InboxItem, error: unknown): RefusedApproval {
  const { runId, type, question } = item;
  return { key: itemKeyOf(item), runId, type, question, why: refusalOf(error)?.detail ?? String(error) };
}

export function useApprovals() {
  const { api, lateRefusals } = useSession();
  const queries = useQueryClient();
  /** The page was left, so another page must show refusals. */
  const isLeft = useRef(false);
  const [refused, setRefused] = useState<readonly RefusedApproval[]>([]);
  const queue = useMemo(
    (): ApprovalQueue<InboxItem> =>
      new ApprovalQueue<InboxItem>({
        keyOf: itemKeyOf,
        later: (ms, call) => {
          const timer = setTimeout(call, ms);
          return () => clearTimeout(timer);
        },
        sender: () => {
          const change = api.changer();
          return async (items, onEnd) => {
            await sendBulk(items, {
              send: (some) => change(approvalOf(some), randomKey()),
              onSent: (item, sent) => {
                if (sent.at !== 'failed') return;
                const error = shownError(sent.error);
                const one = refusedApproval(item, error);
                if (isLeft.current) lateRefusals.add(one);
                else setRefused((all) => [...all.filter(({ key }) => key !== one.key), one]);
                onEnd(item, error);
              },
              onPause: () => {},
              refusalOf,
              signal: new AbortController().signal,
            });
            // The list is read before the marks *sent* are removed, or answered questions would reappear.
            await queries.invalidateQueries();
            for (const item of items)
              if (queue.shown().get(itemKeyOf(item))?.at === 'sending') onEnd(item, undefined);
          };
        },
      }),
    [api, queries, lateRefusals],
  );
  const states = useSyncExternalStore(queue.subscribe, queue.shown);
  useEffect(() => {
    isLeft.current = false;
    return () => {
      isLeft.current = true;
      queue.flush();
    };
  }, [queue]);
  const hasWaiting = [...states.values()].some(({ at }) => at !== 'failed');
  useEffect(() => {
    if (!hasWaiting) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [hasWaiting]);
  return { states, refused, forget: () => setRefused([]), approve: queue.approve, undo: queue.undo };
}
