/** Facts of a run: origin, relations, durations and costs. Absent facts are left out. */
import { budgetLines } from '@cairn/client';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { operationsText, usdText } from '../../../parts/cost-text.ts';
import { Text } from '../../../parts/value-text.tsx';
import { Took, When } from '../../../parts/when.tsx';
import { NAMES } from '../../runs/filter/filter.ts';
import type { Run } from '../live/events.ts';
import { CopyText } from './copy-text.tsx';
import { RunLink } from './run-link.tsx';

const VALUE_CHARS = 120;

export function Facts({ run }: { readonly run: Run }) {
  const { lease, source, parent, trigger } = run;
  return (
    <dl className="run-facts">
      <Fact name="Trigger">
        <Trigger run={run} />
      </Fact>
      <Fact name="Delivery">{trigger.webhookEventId && <CopyText text={trigger.webhookEventId} />}</Fact>
      <Fact name="Pull request">{(run.prUrl ?? run.prId) && <PullRequest run={run} />}</Fact>
      <Fact name="Repository">
        {run.repoId && <RunsLink name="repoId" value={run.repoId} title="All runs about this repository" />}
      </Fact>
      <Fact name="Thread">
        {run.threadId !== run.id && (
          <RunsLink name="threadId" value={run.threadId} title="All runs of this thread" />
        )}
      </Fact>
      <Fact name="Tags">
        {run.tags?.map((tag) => (
          <div key={tag}>
            <RunsLink name="tag" value={tag} title="All runs with this tag" />
          </div>
        ))}
      </Fact>
      <Fact name="Key">
        {run.idempotencyKey && !saysDelivery(run) && <CopyText text={run.idempotencyKey} />}
      </Fact>
      <Fact name="Created">
        <When at={run.createdAt} exact />
      </Fact>
      <Fact name="Started">{startedLate(run) && run.startedAt && <When at={run.startedAt} />}</Fact>
      <Fact name="Ended">{run.completedAt && <When at={run.completedAt} exact />}</Fact>
      <Fact name="Duration">
        <Took run={run} />
      </Fact>
      <Fact name="Deadline">{!run.completedAt && run.deadlineAt && <When at={run.deadlineAt} />}</Fact>
      <Fact name="Worker">{lease && <Worker lease={lease} lastHeartbeatAt={run.lastHeartbeatAt} />}</Fact>
      <Fact name="Isolated">
        {!run.completedAt && run.suspect?.alone && `since its worker died${atSteps(run.suspect.steps)}`}
      </Fact>
      <Fact name="Resumed">
        {run.resumeCount > 0 && (run.resumeCount === 1 ? 'once' : `${run.resumeCount} times`)}
      </Fact>
      <Fact name="Budget">
        {run.budget && budgetLines(run.budget).map((line) => <div key={line}>{line}</div>)}
      </Fact>
      <Fact name="Cost">
        <CostText cost={run.cost} />
      </Fact>
      <Fact name={source ? MADE[source.mode] : ''}>{source && <Source source={source} />}</Fact>
      <Fact name="First run">
        {run.rootRunId !== run.id && run.rootRunId !== source?.runId && <RunLink id={run.rootRunId} />}
      </Fact>
      <Fact name="Continued in">{run.supersededBy && <RunLink id={run.supersededBy} />}</Fact>
      <Fact name="Parent">
        {parent && (
          <>
            <RunLink id={parent.runId} query={`?step=${encodeURIComponent(parent.stepId)}`} />, step{' '}
            <Value>{parent.stepId}</Value>
          </>
        )}
      </Fact>
      <Fact name="Top run">
        {parent?.topRunId !== undefined && parent.topRunId !== parent.runId && (
          <RunLink id={parent.topRunId} />
        )}
      </Fact>
      <Fact name="Trace">
        <CopyText text={run.traceId} short={8} />
      </Fact>
    </dl>
  );
}

function Trigger({ run: { trigger, threadId } }: { readonly run: Run }) {
  return (
    <>
      {trigger.source === 'scheduled' ? (
        // The thread of such a run is its schedule.
        <Link href={`/schedules/${encodeURIComponent(threadId)}`}>{trigger.source}</Link>
      ) : (
        trigger.source
      )}
      {trigger.userId !== undefined && (
        <>
          {' '}
          by <Value>{trigger.userId}</Value>
        </>
      )}
    </>
  );
}

interface WorkerProps extends Pick<Run, 'lastHeartbeatAt'> {
  readonly lease: NonNullable<Run['lease']>;
}

function Worker({ lease: { owner, epoch, expiresAt }, lastHeartbeatAt }: WorkerProps) {
  return (
    <span title={`Lease owner ${owner}; the lease expires ${expiresAt} unless a heartbeat extends it`}>
      dispatch {epoch}
      {lastHeartbeatAt && (
        <>
          , last heartbeat <When at={lastHeartbeatAt} />
        </>
      )}
    </span>
  );
}

function Source({ source }: { readonly source: NonNullable<Run['source']> }) {
  const { runId, stepId, checkpointId, forcedBy } = source;
  return (
    <>
      <RunLink id={runId} />
      {stepId !== undefined && (
        <>
          {' '}
          from <Value>{stepId}</Value>
        </>
      )}
      {checkpointId !== undefined && ` at checkpoint ${Number(checkpointId)}`}
      {forcedBy !== undefined && (
        <>
          , policy overridden by <Value>{forcedBy}</Value>
        </>
      )}
    </>
  );
}

function atSteps(steps: readonly string[]): string {
  return steps.length === 0 ? '' : ` at step ${steps.join(', ')}`;
}

const MADE = { resume: 'Resumes', replay: 'Replays', fork: 'Fork of' } as const;

/** Renders nothing without a value. */
function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  if (children === undefined || children === false || children === '' || children === null) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Value({ children }: { readonly children: string }) {
  return <Text value={children} max={VALUE_CHARS} />;
}

/** True if the idempotency key only repeats the delivery of a webhook, which is shown anyway. */
function saysDelivery({ idempotencyKey = '', trigger: { webhookEventId } }: Run): boolean {
  return webhookEventId !== undefined && idempotencyKey.endsWith(webhookEventId);
}

/** Least difference for which both times are shown. */
const LATE_MS = 2_000;

function startedLate({ createdAt, startedAt }: Run): boolean {
  return startedAt !== undefined && Date.parse(startedAt) - Date.parse(createdAt) > LATE_MS;
}

function RunsLink({
  name,
  value,
  title,
}: {
  readonly name: keyof typeof NAMES;
  readonly value: string;
  readonly title: string;
}) {
  return (
    <Link href={`/runs?${new URLSearchParams({ [NAMES[name]]: value })}`} title={title}>
      <Value>{value}</Value>
    </Link>
  );
}

/** Shows the address of a pull request as a link only if it is http or https. */
function PullRequest({ run: { prId, prUrl } }: { readonly run: Run }) {
  const name = <Value>{prId ?? prUrl ?? ''}</Value>;
  return prUrl !== undefined && isWeb(prUrl) ? (
    <a href={prUrl} rel="noreferrer noopener" target="_blank">
      {name}
    </a>
  ) : (
    name
  );
}

function isWeb(url: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && (parsed.protocol === 'https:' || parsed.protocol === 'http:');
}

function CostText({ cost }: { readonly cost: Run['cost'] }) {
  return (
    <span title="Firestore operations and tasks at list price; without compute time, and without reads by the console and the API">
      {usdText(cost.usd)} <span className="dim">· {operationsText(cost)}</span>
    </span>
  );
}
