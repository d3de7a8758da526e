/** Shows what operators have stopped. It arrives after the rows and must not move them, so it takes one fixed line. */
import { explainStop } from '@cairn/client';
import { Link } from 'wouter';
import { visibleText } from '../../parts/visible-text.ts';
import { useWorkflows } from './use-workflows.ts';

/** Limit of the workflows named; the page Workflows has the others. */
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
  const { killSwitch, restored } = data;
  if (!killSwitch && !restored && paused.length === 0) return null;
  const names = paused.slice(0, MAX_NAMED).map((one) => visibleText(one.type));
  const more = paused.length - names.length;
  const onWorkflows = [
    killSwitch && explainStop({ by: 'kill_switch' }).text,
    paused.length > 0 &&
      `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''} ${
        paused.length === 1 ? 'is paused: its runs wait.' : 'are paused: their runs wait.'
      }`,
  ]
    .filter(Boolean)
    .join(' ');
  const onHealth = restored && explainStop({ by: 'restored' }).text;
  return (
    <span className="list-stopped" role="status">
      {onHealth && <StoppedLink page="Health" text={onHealth} short="stopped" />}
      {onWorkflows !== '' && (
        <StoppedLink page="Workflows" text={onWorkflows} short={killSwitch ? 'stopped' : 'paused'} />
      )}
    </span>
  );
}

interface StoppedLinkProps {
  /** Page on which it can be released. */
  readonly page: 'Health' | 'Workflows';
  readonly text: string;
  /** For a narrow page. */
  readonly short: string;
}

function StoppedLink({ page, text, short }: StoppedLinkProps) {
  const whole = `${text} Nothing is lost. See ${page}.`;
  return (
    <Link href={page === 'Health' ? '/health' : '/workflows'} className="warn" title={whole}>
      <span aria-hidden="true">‖</span> <bdi className="on-wide">{whole}</bdi>
      <span className="on-narrow" aria-hidden="true">
        {short}
      </span>
    </Link>
  );
}
