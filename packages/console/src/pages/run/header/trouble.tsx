/** The steps that failed or are deferred and will be retried: attempts, error and next time. */
import { CutText, Text } from '../../../parts/value-text.tsx';
import { useNow, When } from '../../../parts/when.tsx';
import type { Trying } from './doing.ts';
import { ViewLink } from './view-link.tsx';

/** Limit of the steps shown, because the items of a map usually share an error. */
const MOST = 3;

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** The time of the next attempt. A due attempt begins as soon as a worker is free. */
function NextAttempt({ at }: { readonly at: string }) {
  return Date.parse(at) <= useNow() ? 'due' : <When at={at} />;
}

export function Trouble({ trying }: { readonly trying: readonly Trying[] }) {
  return (
    <>
      {trying.slice(0, MOST).map(({ key, attempt, retryAt, error, deferral, polls = 0 }) => (
        <div key={key} className={deferral !== undefined || polls === attempt ? 'dim' : 'run-error passing'}>
          <p>
            <ViewLink to={{ step: key, tab: undefined }}>
              <CutText value={key} max={120} />
            </ViewLink>{' '}
            {deferral &&
              (deferral.isOver ? 'begins next: the budget allows more' : `waits: ${deferral.reason}`)}
            {deferral === undefined && polls > 0 && `polled ${times(polls)}, condition not met`}
            {deferral === undefined && polls > 0 && polls < attempt && ', '}
            {deferral === undefined && polls < attempt && `failed ${times(attempt - polls)}`}
            {deferral === undefined && error && (
              <>
                : <Text value={error.message} max={300} />
              </>
            )}{' '}
            <span className="dim">
              · next attempt <NextAttempt at={retryAt} />
            </span>
          </p>
        </div>
      ))}
      {trying.length > MOST && (
        <p className="dim">and {trying.length - MOST} more steps will be tried again</p>
      )}
    </>
  );
}
