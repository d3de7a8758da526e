/** One open wait: for what, by which step, since when and until when, and how it is answered. */
import { stepKey } from '@cairn/client';
import { Link } from 'wouter';
import { CutText, Text } from '../../../parts/value-text.tsx';
import { When } from '../../../parts/when.tsx';
import { AnswerButtons } from '../actions/actions.tsx';
import { questionOf } from '../actions/decisions.ts';
import type { Run } from '../live/events.ts';
import { ViewLink } from './view-link.tsx';

type WaitOfRun = Run['waits'][number];

const QUESTION_CHARS = 300;

interface WaitViewProps {
  readonly wait: WaitOfRun;
  /** Names the step, with a link to it, and leaves out the answers. */
  readonly linked?: boolean;
  /** The sentence above is about this wait. */
  readonly isExplained?: boolean;
}

export function WaitView({ wait, linked = false, isExplained = false }: WaitViewProps) {
  const key = stepKey(wait.execution);
  const words = isExplained && wait.purpose !== undefined ? 'waits for a person' : whatFor(wait);
  return (
    <div className="wait-view">
      <p className="row">
        <span className="wait" aria-hidden="true">
          ‖
        </span>
        {linked && (
          <ViewLink to={{ step: key, tab: undefined }}>
            <CutText value={key} max={120} />
          </ViewLink>
        )}
        <span>{linked ? words : upper(words)}</span>
        {wait.child && <Link href={`/runs/${encodeURIComponent(wait.child.runId)}`}>{wait.child.runId}</Link>}
        <span className="dim">
          began <When at={wait.openedAt} />
          {wait.dueAt === undefined ? (
            ' · no time limit'
          ) : (
            <>
              {' · '}
              {wait.kind === 'timer' ? 'ends' : 'times out'} <When at={wait.dueAt} />
            </>
          )}
        </span>
      </p>
      {wait.kind === 'approval' && (
        <Asked detail={wait.detail} isExplained={isExplained && wait.purpose === 'budget'} />
      )}
      {wait.heartbeat && (
        <p className="dim">
          {wait.heartbeat.lastAt === undefined ? (
            'No heartbeat from the sender yet'
          ) : (
            <>
              Last heartbeat from the sender <When at={wait.heartbeat.lastAt} />
            </>
          )}
          {wait.heartbeat.timeoutAt !== undefined && (
            <>
              {' · '}times out at the latest <When at={wait.heartbeat.timeoutAt} />
            </>
          )}
        </p>
      )}
      {wait.kind === 'event' && (
        <p>
          <span className="dim">Event</span> <Text value={wait.name ?? ''} max={200} />{' '}
          <span className="dim">for</span> <Text value={wait.key ?? ''} max={200} />
        </p>
      )}
      {!linked && wait.kind !== 'timer' && wait.kind !== 'child' && <AnswerButtons waitId={wait.id} />}
    </div>
  );
}

function Asked({ detail, isExplained }: { readonly detail: unknown; readonly isExplained: boolean }) {
  const { text, to = [] } = questionOf(detail);
  return (
    <>
      {!isExplained && (
        <blockquote>
          <Text value={text} max={QUESTION_CHARS} />
        </blockquote>
      )}
      {to.length > 0 && (
        <p className="dim">
          Asked: <Text value={to.join(', ')} max={QUESTION_CHARS} />
        </p>
      )}
    </>
  );
}

function whatFor({ kind, purpose, day }: WaitOfRun): string {
  if (purpose === 'doubt') return 'was interrupted and may have acted';
  if (purpose === 'budget')
    return day === undefined
      ? 'waits: the run has reached its budget'
      : 'waits: the tenant has reached its budget of the day';
  if (purpose === 'effect') return 'has a side effect in doubt';
  switch (kind) {
    case 'approval':
      return 'waits for approval';
    case 'event':
      return 'waits for an event';
    case 'timer':
      return 'sleeps';
    case 'child':
      return 'waits for child run';
  }
}

function upper(text: string): string {
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
}
