/** Each time that a person sent the selected step back: the feedback, who gave it and when, the newest first. */
import { useMemo } from 'react';
import { Link } from 'wouter';
import { Text } from '../../../parts/value-text.tsx';
import { When } from '../../../parts/when.tsx';
import { useRunData } from '../live/run-data.ts';
import { type StepFeedback, stepFeedback } from '../live/sent-back.ts';

/** Times that are shown; the journal has all. */
const MOST = 10;
const FEEDBACK_CHARS = 1_000;

export function SentBackTimes({ stepKey }: { readonly stepKey: string }) {
  const { events } = useRunData();
  const times = useMemo(() => stepFeedback(events, stepKey), [events, stepKey]);
  return (
    <>
      {times.slice(0, MOST).map((time) => (
        <SentBackOnce key={`${time.seq} ${time.feedback}`} time={time} />
      ))}
      {times.length > MOST && <p className="dim">{times.length - MOST} earlier times are in the journal</p>}
    </>
  );
}

function SentBackOnce({ time: { at, feedback, by, from } }: { readonly time: StepFeedback }) {
  return (
    <div className="sent-back">
      <p>
        <span className="warn">↻ {from === undefined ? 'Sent back' : 'Feedback taken over'}</span>
        {by !== undefined && (
          <>
            {' '}
            by <Text value={by} max={80} />
          </>
        )}
        {from !== undefined && (
          <>
            {' '}
            from <Link href={`/runs/${encodeURIComponent(from)}`}>{from}</Link>
          </>
        )}{' '}
        <span className="dim">
          <When at={at} />
        </span>
      </p>
      <blockquote>
        <Text value={feedback} max={FEEDBACK_CHARS} />
      </blockquote>
    </div>
  );
}
