/** Says what operators stopped, where a person wonders why runs do not move. */
import { Link } from 'wouter';
import { visibleText } from '../../parts/visible-text.ts';
import { useWorkflows } from './use-workflows.ts';

/** More are on the page of the workflows. */
const MAX_NAMED = 3;

interface StoppedProps {
  /** The workflow whose runs are listed; undefined: all. */
  readonly type: string | undefined;
  readonly isAsked: boolean;
}

export function Stopped({ type, isAsked }: StoppedProps) {
  const { data } = useWorkflows(isAsked);
  if (!data) return null;
  const paused = data.items.filter((one) => one.paused && (type === undefined || type === one.type));
  if (!data.killSwitch && paused.length === 0) return null;
  const names = paused.slice(0, MAX_NAMED).map((one) => visibleText(one.type));
  const more = paused.length - names.length;
  return (
    <p className="note" role="status">
      {data.killSwitch && 'The kill switch is on: no run moves, of any tenant. '}
      {paused.length > 0 && (
        <>
          <bdi>{names.join(', ')}</bdi>
          {more > 0 && ` and ${more} more`}{' '}
          {paused.length === 1 ? 'is paused: its runs wait. ' : 'are paused: their runs wait. '}
        </>
      )}
      Nothing is lost. See <Link href="/workflows">Workflows</Link>.
    </p>
  );
}
