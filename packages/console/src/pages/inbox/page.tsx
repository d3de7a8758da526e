/** Every open question of the tenant, the oldest first, answered in place. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { GuardedButton } from '../../parts/guarded-button.tsx';
import { More } from '../../parts/more.tsx';
import { NotApproved } from '../../parts/not-approved.tsx';
import { Empty, Failure, Loading, Unreadable } from '../../parts/states.tsx';
import { usePages } from '../../parts/use-pages.ts';
import { useSession } from '../../session/session.ts';
import { countedIn, INBOX_COUNT } from '../../shell/inbox-counted.ts';
import { DecideDialog } from '../run/actions/decide-dialog.tsx';
import { type DecisionName, NOT_OPEN } from '../run/actions/decisions.ts';
import { ResolveDialog } from '../run/actions/resolve-dialog.tsx';
import { Answered, type LastAnswer } from './answered.tsx';
import { External } from './external.tsx';
import { Findings } from './findings.tsx';
import { askedIn, canApprove, type InboxItem, itemKeyOf } from './item.ts';
import { Question } from './row.tsx';
import { useRowKeys } from './row-keys.ts';
import { useApprovals } from './use-approvals.ts';
import { useStillAsked } from './use-still-asked.ts';
import { useStillItems } from './use-still-items.ts';
import './page.css';

/** Polls while the page is visible, for new questions and the answers of others. */
const EVERY_MS = 10_000;
const PAGE = '50';

export default function InboxPage() {
  const { api } = useSession();
  const queries = useQueryClient();
  const [answering, setAnswering] = useState<Open>();
  const [last, setLast] = useState<LastAnswer>();
  const list = usePages({
    queryKey: ['inbox', 'list'],
    read: async (cursor, signal) => {
      const page = await api.get('/v1/inbox', { query: { limit: PAGE, cursor }, signal });
      if (cursor === undefined) queries.setQueryData(INBOX_COUNT, countedIn(page));
      return page;
    },
    rereadMs: EVERY_MS,
  });
  const { pages, items, error } = list;
  const { findings = [], external = [], unreadableEffects = [] } = pages?.[0] ?? {};
  const { states, refused, forget, approve, undo } = useApprovals();
  const selection = useSelection(items);
  const approveNow = (approved: readonly InboxItem[]) => {
    setLast(undefined);
    approve(approved);
  };
  const still = useStillItems(items, states);
  const rows = useRowKeys(answering !== undefined);
  const isListed = (item: InboxItem) => items.some((one) => itemKeyOf(one) === itemKeyOf(item));
  return (
    <div className="stack">
      <Heading count={items.length} hasMore={list.hasMore} />
      {error && <Failure error={error} again={list.again} />}
      <Unreadable ids={pages?.flatMap(({ unreadable = [] }) => unreadable) ?? []} />
      {unreadableEffects.length > 0 && (
        <p className="note">
          {unreadableEffects.length} effects without a run cannot be read. Restore their rows from a backup.
        </p>
      )}
      {!pages && !error && <Loading what="the questions" />}
      {pages && still.items.length + findings.length + external.length === 0 && (
        <Empty title="No open questions">
          <p>Approvals and actions in doubt appear here.</p>
        </Empty>
      )}
      <NotApproved
        refused={refused.filter(({ key }) => !items.some((one) => itemKeyOf(one) === key))}
        onClose={forget}
      />
      <div className="inbox-top">
        <Answered last={last} onDismiss={() => setLast(undefined)} />
        <Selected {...selection} onApprove={approveNow} />
      </div>
      {findings.length > 0 && <Findings findings={findings} />}
      <External external={external} onAnswered={setLast} />
      <ol
        className="inbox"
        ref={rows.list}
        aria-live="polite"
        onPointerEnter={({ pointerType }) => still.setOver(pointerType === 'mouse')}
        onPointerLeave={() => still.setOver(false)}
      >
        {still.items.map((item, at) => (
          <Question
            key={itemKeyOf(item)}
            item={item}
            approval={states.get(itemKeyOf(item)) ?? (still.gone.has(itemKeyOf(item)) ? SENT : undefined)}
            isSelected={selection.has(item)}
            onSelect={(isSelected) => selection.select(item, isSelected)}
            onApprove={() => approveNow([item])}
            onUndo={() => undo(item)}
            onReject={() => {
              rows.answering(at);
              setAnswering({ item, first: 'reject' });
            }}
            onAnswer={() => {
              rows.answering(at);
              setAnswering({ item });
            }}
          />
        ))}
      </ol>
      <More of={list}>{list.isLoadingMore ? 'Loading…' : 'Show newer questions'}</More>
      {answering && (
        <Answering
          {...answering}
          isListed={isListed(answering.item)}
          isWhole={!list.hasMore}
          onAnswered={setLast}
          onClose={() => setAnswering(undefined)}
        />
      )}
    </div>
  );
}

/** A question that keeps its place after its approval. */
const SENT = { at: 'sent' } as const;

function Heading({ count, hasMore }: { readonly count: number; readonly hasMore: boolean }) {
  return (
    <div className="row between">
      <h1>
        Inbox {count > 0 && <span className="dim inbox-open">{`${count}${hasMore ? '+' : ''} open`}</span>}
      </h1>
      {count > 0 && (
        <p className="hint">
          Oldest first.{' '}
          <span className="inbox-keys">
            <kbd>j</kbd> <kbd>k</kbd> move, <kbd>Enter</kbd> answers.
          </span>
        </p>
      )}
    </div>
  );
}

/** Questions that are selected for a common approval. `chosen` leaves out those answered meanwhile. */
function useSelection(items: readonly InboxItem[]) {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set());
  return {
    chosen: items.filter((item) => canApprove(item) && keys.has(itemKeyOf(item))),
    has: (item: InboxItem) => keys.has(itemKeyOf(item)),
    select(item: InboxItem, isSelected: boolean) {
      const next = new Set(keys);
      if (isSelected) next.add(itemKeyOf(item));
      else next.delete(itemKeyOf(item));
      setKeys(next);
    },
    clear: () => setKeys(new Set()),
  };
}

interface SelectedProps extends Pick<ReturnType<typeof useSelection>, 'chosen' | 'clear'> {
  onApprove(items: readonly InboxItem[]): void;
}

function Selected({ chosen, clear, onApprove }: SelectedProps) {
  if (chosen.length === 0) return null;
  return (
    <section className="row inbox-chosen" aria-label="Selected approvals">
      <strong aria-live="polite">{chosen.length} selected</strong>
      <GuardedButton
        least="operator"
        className="primary"
        onClick={() => {
          onApprove(chosen);
          clear();
        }}
      >
        Approve selected
      </GuardedButton>
      <button type="button" onClick={clear}>
        Clear selection
      </button>
    </section>
  );
}

/** The question whose form is open. */
interface Open {
  readonly item: InboxItem;
  /** The answer that the form begins with. */
  readonly first?: DecisionName;
}

interface AnsweringProps extends Open {
  /** The question is among those that are loaded. */
  readonly isListed: boolean;
  /** All open questions are loaded. */
  readonly isWhole: boolean;
  onAnswered(last: LastAnswer): void;
  onClose(): void;
}

function Answering({ item, first, isListed, isWhole, onAnswered, onClose }: AnsweringProps) {
  const { runId, type, kind, step, waitId, effectId, detail, question, to, dataSchema, dueAt, answers } =
    item;
  // The list is ordered by the oldest question of each run, so a question may have moved to a page that is not loaded.
  const isElsewhere = useStillAsked(item, !isListed && !isWhole);
  const outdated = isListed || isElsewhere ? undefined : NOT_OPEN;
  const onDone = (done: string) => onAnswered({ step, run: { id: runId, type }, done });
  if (effectId !== undefined) {
    const caller = kind === 'left_in_doubt' ? 'ended' : 'run';
    return <ResolveDialog {...{ runId, effectId, caller, outdated, onDone, onClose }} />;
  }
  return (
    <DecideDialog
      runId={runId}
      step={step}
      waitId={waitId ?? ''}
      asked={askedIn(kind)}
      detail={detail ?? { question, to }}
      dataSchema={dataSchema}
      dueAt={dueAt}
      first={first}
      accepted={answers}
      outdated={outdated}
      onDone={onDone}
      onClose={onClose}
    />
  );
}
