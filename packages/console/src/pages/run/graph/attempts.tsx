/** Each attempt and each wait of a step, the newest first: when, how long, how it ended and why. */

import { Link } from 'wouter';
import { Stack } from '../../../parts/stack/stack.tsx';
import { duration, soFar } from '../../../parts/time.ts';
import { Text } from '../../../parts/value-text.tsx';
import { useNow, When } from '../../../parts/when.tsx';
import { endText, endTone, type StepHistory, type TimelineSpan } from '../live/span.ts';

/** Newest attempts shown of a step; the journal has all. */
const MOST = 50;

export function Attempts({ history: { spans } }: { readonly history: StepHistory }) {
  const newest = spans.slice(-MOST).reverse();
  return (
    <ol className="attempts" reversed start={spans.length}>
      {newest.map((span, at) => (
        <li key={`${span.seq}-${span.from}`}>
          <Attempt span={span} isNewest={at === 0} />
        </li>
      ))}
      {spans.length > MOST && (
        <li className="dim">{spans.length - MOST} earlier attempts are in the journal</li>
      )}
    </ol>
  );
}

function Attempt({ span, isNewest }: { readonly span: TimelineSpan; readonly isNewest: boolean }) {
  const { kind, attempt, revision, from, error, note, dueAt, end, childId } = span;
  return (
    <>
      <span className="row">
        <span>
          {kind === 'wait' ? 'Waited' : `Attempt ${attempt}`}
          {revision > 1 && `, revision ${revision}`}
        </span>
        <span className={endTone(end)}>{endText(span)}</span>
        <span className="dim">
          <Took {...span} />
          <When at={new Date(from).toISOString()} />
        </span>
      </span>
      {childId !== undefined && (
        <span className="attempt-more">
          <span className="dim">Child run</span>{' '}
          <Link href={`/runs/${encodeURIComponent(childId)}`} className="mono">
            {childId}
          </Link>
        </span>
      )}
      {note && (
        <span className="attempt-more">
          <Text value={note} max={400} />
        </span>
      )}
      {error && (
        <span className="attempt-more bad">
          <code>{error.code}</code> <Text value={error.message} max={400} />
          {error.trace && <Stack trace={error.trace} message={error.message} />}
        </span>
      )}
      {isNewest && (end === 'retried' || end === 'polled' || end === 'deferred') && dueAt !== undefined && (
        <span className="attempt-more dim">
          Next attempt <When at={new Date(dueAt).toISOString()} />
        </span>
      )}
    </>
  );
}

/** Duration; nothing where the end is not known. */
function Took({ from, to, end }: TimelineSpan) {
  if (to === undefined && end !== undefined) return null;
  return <>{to === undefined ? <Lasting from={from} /> : duration(to - from)} · </>;
}

function Lasting({ from }: { readonly from: number }) {
  return <>{soFar(useNow() - from)}</>;
}
