/** Whatever waits for a person: every open question of the tenant, the oldest first, answered in place. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { GuardedButton } from '../../parts/guarded-button.tsx';
import { Empty, Failure, Loading, Unreadable } from '../../parts/states.tsx';
import { Text } from '../../parts/value-text.tsx';
import { When } from '../../parts/when.tsx';
import { useSession } from '../../session/session.ts';
import { DecideDialog } from '../run/actions/decide-dialog.tsx';
import { ResolveDialog } from '../run/actions/resolve-dialog.tsx';
import { Findings } from './findings.tsx';
import { type InboxItem, KINDS, keyOf } from './item.ts';
import { useRowKeys } from './row-keys.ts';
import './page.css';

/** While somebody looks; answers of others and new questions come by themselves. */
const EVERY_MS = 10_000;
const PAGE = '50';

export default function InboxPage() {
  const { api } = useSession();
  const [answering, setAnswering] = useState<InboxItem>();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['inbox', 'list'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      api.get('/v1/inbox', { query: { limit: PAGE, cursor: pageParam }, signal }),
    getNextPageParam: ({ next }) => next,
    refetchInterval: EVERY_MS,
    refetchOnWindowFocus: true,
  });
  const items = data?.pages.flatMap((page) => page.items) ?? [];
  const findings = data?.pages[0]?.findings ?? [];
  const rows = useRowKeys(items.length, answering !== undefined);
  return (
    <div className="stack">
      <div className="row between">
        <h1>
          Inbox{' '}
          {items.length > 0 && <span className="dim inbox-open">{openText(items.length, hasNextPage)}</span>}
        </h1>
        {items.length > 0 && (
          <p className="hint">
            The oldest first. <kbd>j</kbd> <kbd>k</kbd> go from one to the next, <kbd>Enter</kbd> answers.
          </p>
        )}
      </div>
      {error && <Failure error={error} again={() => void refetch()} />}
      <Unreadable ids={data?.pages.flatMap(({ unreadable = [] }) => unreadable) ?? []} />
      {!data && !error && <Loading what="the questions" />}
      {data && items.length + findings.length === 0 && (
        <Empty title="Nothing waits for a person">
          <p>Approvals, and outside actions of which nobody knows whether they took place, appear here.</p>
        </Empty>
      )}
      {findings.length > 0 && <Findings findings={findings} />}
      <ol className="inbox" ref={rows.list} aria-live="polite">
        {items.map((item, at) => (
          <Question
            key={keyOf(item)}
            item={item}
            onAnswer={() => {
              rows.answering(at);
              setAnswering(item);
            }}
          />
        ))}
      </ol>
      {hasNextPage && (
        <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {isFetchingNextPage ? 'Reading…' : 'Show newer questions'}
        </button>
      )}
      {answering && <Answering item={answering} onClose={() => setAnswering(undefined)} />}
    </div>
  );
}

function openText(count: number, hasMore: boolean): string {
  return `${count}${hasMore ? '+' : ''} open`;
}

interface QuestionProps {
  readonly item: InboxItem;
  onAnswer(): void;
}

function Question({ item, onAnswer }: QuestionProps) {
  const {
    runId,
    type,
    kind,
    step,
    question,
    openedAt,
    dueAt,
    repoId,
    threadId,
    answers,
    more,
    capabilityId,
  } = item;
  const unless = answers.length === 0 ? 'no answer would be taken now; look at the run' : undefined;
  return (
    <li className="card">
      <div className="row between">
        <span>
          <strong className="wait">{KINDS[kind]}</strong> in{' '}
          <Link href={`/runs/${runId}`}>
            <Text value={type} max={100} />
          </Link>{' '}
          <span className="dim">
            step <Text value={step} max={100} />
            {capabilityId && (
              <>
                , <code>{capabilityId}</code>
              </>
            )}
            , <Text value={repoId ?? threadId} max={100} />
          </span>
        </span>
        <span className="dim">
          asked <When at={openedAt} />
          {dueAt && (
            <>
              , closes <When at={dueAt} />
            </>
          )}
        </span>
      </div>
      <p className="question">
        <Text value={question} max={600} />
      </p>
      <div className="row">
        <GuardedButton least="operator" className="primary" unless={unless} onClick={onAnswer}>
          Answer
        </GuardedButton>
        {answers.includes('resume') && (
          <Link href={`/runs/${runId}?do=resume`} className="button">
            Resume the run to find out
          </Link>
        )}
        {more !== undefined && <span className="dim">{more} more questions of this run</span>}
      </div>
    </li>
  );
}

function Answering({ item, onClose }: { readonly item: InboxItem; onClose(): void }) {
  const { runId, kind, step, waitId, effectId, detail, question, dueAt } = item;
  if (effectId !== undefined) {
    const isOver = kind === 'left_in_doubt';
    return <ResolveDialog runId={runId} effectId={effectId} isOver={isOver} onClose={onClose} />;
  }
  return (
    <DecideDialog
      runId={runId}
      step={step}
      waitId={waitId ?? ''}
      asked={kind === 'step_in_doubt' ? 'doubt' : 'approval'}
      detail={detail ?? { question }}
      dueAt={dueAt}
      onClose={onClose}
    />
  );
}
