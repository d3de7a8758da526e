/** The trace of a run whose worker is killed. The last suite over a cloud: it moves the clock. */
import { expect, test } from '@jest/globals';
import { control, type Ready } from '../../../packages/local/src/cloud-process.ts';
import { deliverUntilTaken, openedPullRequest } from '../../../scripts/demo/delivery.ts';
import { linesIn } from '../../../scripts/demo/notes.ts';
import type { CollectedSpan, Collector } from '../../platform/telemetry/collector.ts';
import { signalTo } from '../../support/processes.ts';
import { type CloudStage, ended, eventually } from '../support.ts';

/** More than a lease. */
const LEASE_OVER_MS = 95_000;

interface Sources {
  readonly collector: Collector;
  /** File in which the workflow `traced` notes what it does. */
  readonly notes: string;
}

/** @param stage its workers send to the collector */
export function traces(stage: CloudStage, { collector, notes }: Sources): void {
  /** Words of the lines that begin with this one. */
  function noted(what: string): string[][] {
    return linesIn(notes)
      .map((line) => line.split(' '))
      .filter(([first]) => first === what);
  }

  test('one trace spans the webhook and each effect, over two processes of which the first is killed', async () => {
    const { ready } = stage.cloud;
    const { runId } = await deliverUntilTaken(ready, openedPullRequest());
    if (runId === undefined) throw new Error('the delivery made no run');
    const [, victim] = await eventually('the step that waits to be killed', () => noted('waits')[0]);
    const named = (name: string) => collector.spans.filter((span) => span.name === name);
    // The last that it can tell before it dies.
    await eventually('what it has done to be told', () => named('effect notes.add')[0]);
    signalTo(Number(victim), 'SIGKILL');
    await eventually('the worker to be gone', async () => {
      const { workers } = await control<Ready['pids']>(ready, 'GET', '/pids');
      return workers.includes(Number(victim)) ? undefined : true;
    });
    // An effect was under way, so that nobody takes the run over before its lease is over.
    await control(ready, 'POST', '/clock/advance', { ms: LEASE_OVER_MS });
    expect(await ended(ready, runId)).toMatchObject({ status: 'completed', resumeCount: 1 });

    const ofRun = () => {
      const traceId = named('POST /webhooks/github')[0]?.traceId;
      return collector.spans.filter((span) => span.traceId === traceId);
    };
    const drives = () => ofRun().filter(({ name }) => name === 'drive traced');
    const ends = () => drives().map(({ attributes }) => attributes['cairn.drive.end']);
    // Each process tells in its own time: the dead one's spans come from whoever took the run over.
    const spans = await eventually('the drive that ended the run, and the parent of each span', () => {
      const spans = onceEach(ofRun());
      const isWhole = spans.every(
        ({ parentSpanId }) => !parentSpanId || spans.some(({ spanId }) => spanId === parentSpanId),
      );
      const isRecovered = ends().includes('orphaned') && spans.some(({ name }) => name === 'recover traced');
      return isWhole && isRecovered && ends().includes('closed') ? spans : undefined;
    });
    const ids = new Set(spans.map(({ spanId }) => spanId));
    // Whatever was done for the run is in its trace (who looks at it is in another).
    const done = collector.spans.filter(({ attributes }) => attributes['cairn.workflow.type'] === 'traced');
    expect(onceEach(done).filter(({ traceId }) => traceId !== spans[0]?.traceId)).toEqual([]);
    expect(ids.size).toBe(spans.length);
    expect(spans.filter(({ parentSpanId }) => !parentSpanId).map(({ name }) => name)).toEqual([
      'POST /webhooks/github',
    ]);

    const [call] = spans.filter(({ name }) => name === 'call notes.add.here');
    expect(pathOf(spans, call)).toEqual([
      'POST /webhooks/github',
      'start traced',
      'drive traced',
      'step act',
      'effect notes.add',
      'call notes.add.here',
    ]);
    // It was done once; the receiver heard of the very span of the call.
    expect(noted('acted').map(([, , traceparent]) => traceparent)).toEqual([
      `00-${call?.traceId}-${call?.spanId}-01`,
    ]);
    const attempts = spans.filter(({ name }) => name === 'step act');
    expect(attempts.map(({ attributes }) => attributes['cairn.step.outcome']).sort()).toEqual([
      'orphaned',
      'succeeded',
    ]);
    expect(ends()).toEqual(expect.arrayContaining(['orphaned', 'closed']));
    const dead = drives().find(({ attributes }) => attributes['cairn.drive.end'] === 'orphaned');
    const last = drives().find(({ attributes }) => attributes['cairn.drive.end'] === 'closed');
    // The one that died was told of by who took the run over; what it had done itself, by itself.
    expect(call?.instance).not.toBe(last?.instance);
    expect(dead?.instance).not.toBe(call?.instance);
    expect(attempts.map(({ parentSpanId }) => parentSpanId).sort()).toEqual(
      [dead?.spanId, last?.spanId].sort(),
    );
  });
}

/** A request whose answer came too late is sent again. */
function onceEach(spans: readonly CollectedSpan[]): CollectedSpan[] {
  return [...new Map(spans.map((span) => [JSON.stringify(span), span])).values()];
}

/** The names from the outermost span down to this one. */
function pathOf(spans: readonly CollectedSpan[], span: CollectedSpan | undefined): string[] {
  if (!span) return [];
  return [
    ...pathOf(
      spans,
      spans.find(({ spanId }) => spanId === span.parentSpanId),
    ),
    span.name,
  ];
}
