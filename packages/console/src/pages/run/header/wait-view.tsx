/** One open wait: for what, by which step, since when and until when, and how it is answered. */
import { stepKey, waitText } from '@cairn/client';
import { Link } from 'wouter';
import { CutText, Text } from '../../../parts/value-text.tsx';
import { When } from '../../../parts/when.tsx';
import { AnswerButtons } from '../actions/actions.tsx';
import { askedBy, dueWords, questionOf } from '../actions/decisions.ts';
import type { Run } from '../live/events.ts';
import { ViewLink } from './view-link.tsx';

type WaitOfRun = Run['waits'][number];

const QUESTION_CHARS = 300;
/** Longer than the names and keys of most events. */
const WAIT_CHARS = 400;

interface WaitViewProps {
  readonly wait: WaitOfRun;
  /** Shows the step as a link, and leaves out the answers. */
  readonly linked?: boolean;
  /** The text beside it already says what the run waits for. */
  readonly isSaid?: boolean;
}

export function WaitView({ wait, linked = false, isSaid = false }: WaitViewProps) {
  const key = stepKey(wait.execution);
  const words = waitText(wait);
  const text = linked ? words : upper(words);
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
        {!isSaid && (
          <span>
            <Text value={text} max={WAIT_CHARS} />
          </span>
        )}
        {wait.child && <ChildLink id={wait.child.runId} />}
        <span className="dim">
          began <When at={wait.openedAt} />
          {wait.dueAt === undefined ? (
            ' · no time limit'
          ) : (
            <>
              {' · '}
              {wait.kind === 'timer' ? 'ends' : dueWords(askedBy(wait.purpose))} <When at={wait.dueAt} />
            </>
          )}
        </span>
      </p>
      {wait.kind === 'approval' && <Asked detail={wait.detail} />}
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
      {!linked && wait.kind !== 'timer' && wait.kind !== 'child' && <AnswerButtons waitId={wait.id} />}
    </div>
  );
}

function ChildLink({ id }: { readonly id: string }) {
  return (
    <Link href={`/runs/${encodeURIComponent(id)}`} aria-label={`Open run ${id}`}>
      Open
    </Link>
  );
}

function Asked({ detail }: { readonly detail: unknown }) {
  const { text, to = [] } = questionOf(detail);
  return (
    <>
      <blockquote>
        <Text value={text} max={QUESTION_CHARS} />
      </blockquote>
      {to.length > 0 && (
        <p className="dim">
          Asked: <Text value={to.join(', ')} max={QUESTION_CHARS} />
        </p>
      )}
    </>
  );
}

function upper(text: string): string {
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
}
