/** One question as a card: text, details, age, deadline and answers. */
import { Link } from 'wouter';
import { GuardedRow } from '../../parts/guarded-button.tsx';
import { Details } from '../../parts/json-view/details.tsx';
import { Failure } from '../../parts/states.tsx';
import { CutText, Text } from '../../parts/value-text.tsx';
import { When } from '../../parts/when.tsx';
import { dueWords, questionOf } from '../run/actions/decisions.ts';
import { RunLink } from '../run/header/run-link.tsx';
import { type ApprovalProgress, UNDO_MS } from './approval-queue.ts';
import { askedIn, canApprove, canReject, type InboxItem, KINDS } from './item.ts';
import { ANSWERED } from './row-keys.ts';

interface QuestionRowProps {
  readonly item: InboxItem;
  /** State of the approval after a click. */
  readonly approval: ApprovalProgress | { readonly at: 'sent' } | undefined;
  readonly isSelected: boolean;
  onSelect(isSelected: boolean): void;
  onApprove(): void;
  onUndo(): void;
  /** Opens the form, with the rejection chosen. */
  onReject(): void;
  onAnswer(): void;
}

export function Question(props: QuestionRowProps) {
  const { item, approval, isSelected, onSelect } = props;
  const { runId, type, kind, step, question, to, openedAt, dueAt, repoId, threadId, capabilityId, detail } =
    item;
  // The details about an effect are only its id. The details about a budget are already in the question.
  const saysAll = item.effectId !== undefined || kind === 'budget_reached';
  const beside = detail === undefined || saysAll ? undefined : questionOf(detail).beside;
  const isAnswered = approval?.at === 'sending' || approval?.at === 'sent';
  return (
    <li className={isAnswered ? `card ${ANSWERED}` : 'card'}>
      <div className="row between">
        <span>
          {canApprove(item) && (
            <input
              type="checkbox"
              checked={isSelected}
              disabled={approval !== undefined && approval.at !== 'failed'}
              aria-label={`Select ${step} of ${runId}`}
              onChange={({ target }) => onSelect(target.checked)}
            />
          )}{' '}
          <strong className="wait">{KINDS[kind]}</strong> in{' '}
          <Link href={`/runs/${runId}`}>
            <CutText value={type} max={100} />
          </Link>{' '}
          <RunLink id={runId} />{' '}
          <span className="dim">
            step <Text value={step} max={100} />
            {capabilityId && (
              <>
                , <code>{capabilityId}</code>
              </>
            )}
            <Group repoId={repoId} threadId={threadId} runId={runId} />
          </span>
        </span>
        <span className="dim">
          {item.attemptedAt && (
            <>
              called <When at={item.attemptedAt} />,{' '}
            </>
          )}
          asked{' '}
          {to && (
            <>
              of <Text value={to.join(', ')} max={200} />,{' '}
            </>
          )}
          <When at={openedAt} />
          {dueAt && (
            <>
              , {dueWords(askedIn(kind))} <When at={dueAt} />
            </>
          )}
        </span>
      </div>
      <p className="question">
        <Text value={question} max={600} />
      </p>
      {item.error !== undefined && (
        <p className="dim">
          <Text value={item.error} max={600} />
        </p>
      )}
      {beside !== undefined && <Details value={beside} label={`Details of ${step}`} />}
      {item.request !== undefined && <Details value={item.request} label={`Request of ${step}`} />}
      {approval?.at === 'failed' && <Failure error={approval.error} />}
      {approval === undefined || approval.at === 'failed' ? (
        <Answers {...props} />
      ) : (
        <div className="row" role="status">
          {approval.at === 'sending' ? (
            'Sending…'
          ) : (
            <span className="good">
              {approval.at === 'sent' ? '✓ Approved.' : `✓ Approved, sent within ${UNDO_MS / 1_000} s`}
            </span>
          )}
          <button
            type="button"
            className={approval.at === 'waiting' ? 'answer' : 'unseen'}
            disabled={approval.at !== 'waiting'}
            onClick={props.onUndo}
          >
            Undo
          </button>
        </div>
      )}
    </li>
  );
}

/** The repository or thread of the run, with a link to its runs. A run without either is its own thread. */
function Group({ repoId, threadId, runId }: Pick<InboxItem, 'repoId' | 'threadId' | 'runId'>) {
  if (repoId === undefined && threadId === runId) return null;
  const [name, value] = repoId === undefined ? ['thread', threadId] : ['repo', repoId];
  return (
    <>
      ,{' '}
      <Link href={`/runs?${name}=${encodeURIComponent(value)}`}>
        <CutText value={value} max={100} />
      </Link>
    </>
  );
}

function Answers({ item, onApprove, onReject, onAnswer }: QuestionRowProps) {
  const { runId, step, answers, more } = item;
  const unless = answers.length === 0 ? 'no answer is possible now; see the run' : undefined;
  return (
    <div className="row">
      <GuardedRow
        label={`Answers to ${step}`}
        least="operator"
        offers={[
          {
            name: item.dataSchema === undefined ? 'Answer' : 'Fill in and answer',
            className: canApprove(item) ? 'answer' : 'answer primary',
            unless,
            onClick: onAnswer,
          },
          ...(canReject(item) ? [{ name: 'Reject', className: 'quiet-danger', onClick: onReject }] : []),
          ...(canApprove(item) ? [{ name: 'Approve', className: 'primary', onClick: onApprove }] : []),
        ]}
      />
      {answers.includes('resume') && (
        <Link href={`/runs/${runId}?do=resume`} className="button">
          Resume the run to find out
        </Link>
      )}
      {more !== undefined && <span className="dim">{more} more questions of this run</span>}
    </div>
  );
}
