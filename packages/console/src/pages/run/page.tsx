/** The page of one run: its header, and below it one of the views that the address names. */
import { type KeyboardEvent, useDeferredValue, useEffect } from 'react';
import { Link } from 'wouter';
import { ApiError } from '../../api/problem.ts';
import { Empty, Failure, Loading } from '../../parts/states.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { useQueryState } from '../../shell/address.ts';
import { CheckpointsTab } from './checkpoints/tab.tsx';
import { EffectsTab } from './effects/tab.tsx';
import { OverviewTab } from './graph/overview.tsx';
import { RunHeader } from './header/header.tsx';
import { ViewLink } from './header/view-link.tsx';
import { IntegrityPanel } from './integrity/panel.tsx';
import { JournalTab } from './journal/tab.tsx';
import { useRunData } from './live/run-data.ts';
import { RunProvider } from './live/use-run.tsx';
import { LogsTab } from './logs/tab.tsx';
import { TimelineTab } from './timeline/tab.tsx';
import './page.css';

const TABS = {
  overview: { name: 'Overview', Tab: OverviewTab },
  timeline: { name: 'Timeline', Tab: TimelineTab },
  journal: { name: 'Journal', Tab: JournalTab },
  checkpoints: { name: 'Checkpoints', Tab: CheckpointsTab },
  effects: { name: 'Effects', Tab: EffectsTab },
  logs: { name: 'Logs', Tab: LogsTab },
} as const;

/** Parameters of the address that belong to one tab and are dropped when the tab changes; the step stays. */
const OF_ONE_TAB = {
  view: undefined,
  turns: undefined,
  items: undefined,
  idle: undefined,
  event: undefined,
  of: undefined,
  seq: undefined,
  checkpoint: undefined,
  compare: undefined,
  effect: undefined,
  level: undefined,
  line: undefined,
};

export default function RunPage({ id }: { readonly id: string }) {
  return (
    <RunProvider id={id}>
      <RunView />
    </RunProvider>
  );
}

function RunView() {
  const { id, run, error, again } = useRunData();
  useEffect(() => {
    const before = document.title;
    document.title = run ? `${run.type} ${run.status.replaceAll('_', ' ')} · Cairn` : before;
    return () => {
      document.title = before;
    };
  }, [run]);
  if (run)
    return (
      <div className="run-page">
        <RunHeader run={run} />
        <Tabs />
      </div>
    );
  if (!error) return <Loading what="the run" />;
  if (isUnknown(error)) return <NoSuchRun id={id} />;
  return (
    <>
      <Failure isPage error={error} again={again} />
      {codeOf(error) === 'DATA_DAMAGED' && <IntegrityPanel />}
    </>
  );
}

function Tabs() {
  const [requestedTab = 'overview'] = useQueryState('tab');
  const tab = Object.hasOwn(TABS, requestedTab) ? (requestedTab as keyof typeof TABS) : 'overview';
  // The header and the tabs appear at once, even if drawing thousands of steps takes longer.
  const drawn = useDeferredValue<keyof typeof TABS | undefined>(tab, undefined);
  const { Tab, name } = TABS[drawn ?? tab];
  return (
    <>
      <nav aria-label="Views of the run" className="tabs" onKeyDown={moveFocus}>
        {Object.entries(TABS).map(([key, view]) => (
          <ViewLink
            key={key}
            to={{ ...OF_ONE_TAB, tab: key === 'overview' ? undefined : key }}
            current={key === tab}
          >
            {view.name}
          </ViewLink>
        ))}
      </nav>
      <section aria-label={name} className="tab">
        {drawn === undefined ? <Loading what="the steps" /> : <Tab />}
      </section>
    </>
  );
}

/** Arrow keys move between the tabs, in addition to the Tab key. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (by === undefined) return;
  const links = [...event.currentTarget.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  links[(at + by + links.length) % links.length]?.focus();
  event.preventDefault();
}

function isUnknown(error: unknown): boolean {
  return codeOf(error) === 'RUN_NOT_FOUND';
}

function codeOf(error: unknown): string | undefined {
  return error instanceof ApiError ? error.problem.code : undefined;
}

function NoSuchRun({ id }: { readonly id: string }) {
  return (
    <>
      <h1 className="mono">{visibleText(id.slice(0, MAX_ID))}</h1>
      <Empty title="Run not found">
        <p>
          Your tenant has no run with this id. It may have been deleted after its retention, or belong to
          another tenant.
        </p>
        <p>
          <Link href={`/runs?q=${encodeURIComponent(id)}`}>Search for it</Link> or see{' '}
          <Link href="/runs">all runs</Link>.
        </p>
      </Empty>
    </>
  );
}

/** Limit of the characters shown of an id, because an address can contain anything. */
const MAX_ID = 200;
