/** The selected step: its status, waits, output, effects and attempts, with links to more. */
import { stepKey as keyOf } from '@cairn/client';
import { useRef } from 'react';
import { Failure, Loading } from '../../../parts/states.tsx';
import { Status } from '../../../parts/status.tsx';
import { Text } from '../../../parts/value-text.tsx';
import { visibleText } from '../../../parts/visible-text.ts';
import { When } from '../../../parts/when.tsx';
import { StepOutput } from '../checkpoints/output-view.tsx';
import { EffectsOfStep } from '../effects/of-step.tsx';
import { ProgressLine } from '../header/progress-line.tsx';
import { ViewLink } from '../header/view-link.tsx';
import { WaitView } from '../header/wait-view.tsx';
import { type GraphStepState, stepIdOf } from '../live/events.ts';
import { withOpenEnds } from '../live/open-ends.ts';
import { useRunData } from '../live/run-data.ts';
import { type Undone, undoBodyOf } from '../live/undone.ts';
import { MemosOfStep } from '../memos/of-step.tsx';
import { Attempts } from './attempts.tsx';
import { ItemList } from './item-list.tsx';
import { SentBackTimes } from './sent-back.tsx';
import { itemKind, itemStatus, itemsText, type StepView } from './step-view.ts';
import { useClosing } from './use-closing.ts';
import { useNearHistory } from './use-near-history.ts';

/** Longer than any step's name. The limit is for addresses, which can contain anything. */
const MAX_KEY = 300;

interface StepPanelProps {
  readonly stepKey: string;
  viewOf(id: string): StepView | undefined;
  onSelect(key: string): void;
  onClose(): void;
}

export function StepPanel({ stepKey, viewOf, onSelect, onClose }: StepPanelProps) {
  const { steps } = useRunData();
  const state = steps.get(stepKey);
  const view = viewOf(stepKey);
  const panel = useRef<HTMLElement>(null);
  useClosing(panel, onClose);
  return (
    <section className="step-panel card" aria-label="The selected step" ref={panel}>
      <header className="row">
        <h2>
          <Text value={stepKey} max={MAX_KEY} />
        </h2>
        <button type="button" className="plain" onClick={onClose} aria-label="Close the step">
          ✕
        </button>
      </header>
      {view || state ? (
        <StepFacts stepKey={stepKey} view={view} state={state} onSelect={onSelect} />
      ) : (
        <p className="dim">The run has no step of this name.</p>
      )}
    </section>
  );
}

interface StepFactsProps extends Pick<StepPanelProps, 'stepKey' | 'onSelect'> {
  readonly view: StepView | undefined;
  readonly state: GraphStepState | undefined;
}

function StepFacts({ stepKey, view, state, onSelect }: StepFactsProps) {
  const { id, histories, run, isOver, undone, history } = useRunData();
  const near = useNearHistory(stepKey, state?.seq);
  // The events near the last one are newer than the loaded beginning of the journal.
  const loaded = near.history ?? histories.get(stepKey);
  const lacksEvents = loaded === undefined || (loaded === near.history && !near.isWhole);
  const past = loaded && withOpenEnds(loaded, { run, isOver, isComplete: history.complete });
  const waits = run?.waits.filter(({ execution }) => keyOf(execution) === stepKey) ?? [];
  const undoing = undone.get(stepKey);
  const body = undoBodyOf(stepKey, run?.running);
  const undo = body ?? undoing;
  const progress = run?.progress?.find(({ step }) => step === stepKey);
  const location = run?.running.find(({ step }) => step === stepKey)?.location ?? past?.location;
  const isItem = stepIdOf(stepKey) !== stepKey;
  return (
    <>
      <p className="row" aria-live="polite">
        <Status status={view?.status ?? itemStatus(state, undoing, isOver)} />
        <span className="dim">{isItem ? itemKind(stepKey, past) : view?.kind}</span>
        {state && state.revision > 1 && <span className="dim">revision {state.revision}</span>}
        {past?.agent && (
          <span className="dim">
            by <Text value={past.agent} max={80} />
          </span>
        )}
      </p>
      {undoing && <Undoing entry={undoing} />}
      {body && (
        <p className="dim">
          Being undone, begun <When at={body.since} />
        </p>
      )}
      {progress && <ProgressLine progress={progress} />}
      <SentBackTimes stepKey={stepKey} />
      {waits.map((wait) => (
        <WaitView key={wait.id} wait={wait} />
      ))}
      {isItem ? (
        <p>
          Of <StepLink id={stepIdOf(stepKey)} onSelect={onSelect} />
        </p>
      ) : (
        view && view.needs.length > 0 && <Needs ids={view.needs} onSelect={onSelect} />
      )}
      {location !== undefined && (
        <p className="dim">
          Asked for at{' '}
          <code>
            <Text value={location} max={200} />
          </code>
        </p>
      )}
      {state && checkpointOf(state) !== undefined && (
        <StepOutput
          key={`${stepKey} ${state.seq}`}
          runId={id}
          seq={state.seq}
          step={stepKey}
          summary={past?.summary}
        />
      )}
      {state && (isItem || view?.kind === 'step') && (
        <MemosOfStep
          key={`memos ${stepKey}`}
          runId={id}
          stepKey={stepKey}
          revision={state.revision}
          version={`${state.phase} ${state.seq}`}
          isRunning={state.phase === 'running'}
        />
      )}
      {undo && (
        <MemosOfStep
          key={`undo memos ${stepKey}`}
          runId={id}
          stepKey={stepKey}
          revision={undo.revision}
          undoes
          version={body?.attempt ?? undoing?.at}
          isRunning={body !== undefined}
        />
      )}
      <EffectsOfStep stepKey={stepKey} ids={past?.effects ?? []} />
      {past?.tokensUsed && (
        <p className="dim">
          {past.tokensUsed.input.toLocaleString('en')} tokens in,{' '}
          {past.tokensUsed.output.toLocaleString('en')} out
        </p>
      )}
      {view?.items && (
        <>
          <p>{itemsText(view.items, view.kind)}</p>
          <ItemList id={stepKey} onSelect={onSelect} />
        </>
      )}
      {past && <Attempts history={past} />}
      {lacksEvents && <MissingEvents seq={state?.seq} isAll={!past} isLoading={near.isLoading} />}
      {state && (
        <Further stepKey={stepKey} checkpoint={checkpointOf(state)} hasLogs={run?.logs !== undefined} />
      )}
    </>
  );
}

interface MissingEventsProps {
  /** The last event of the step; undefined: it has none. */
  readonly seq: number | undefined;
  /** True if none of its events is loaded. */
  readonly isAll: boolean;
  readonly isLoading: boolean;
}

/** Says that events of the step are not loaded, and why. */
function MissingEvents({ seq, isAll, isLoading }: MissingEventsProps) {
  const { history, loadUntil } = useRunData();
  return (
    <>
      {seq !== undefined && (history.loading || isLoading) && (
        <Loading what={isAll ? 'its events' : 'its earlier events'} />
      )}
      {seq !== undefined && history.error !== undefined && (
        <Failure error={history.error} again={() => loadUntil(seq)} />
      )}
      {history.full && (
        <p className="dim">
          {isAll ? 'The events' : 'Earlier events'} of this step are beyond those that the page has loaded.
        </p>
      )}
    </>
  );
}

function Undoing({ entry: { outcome, at, error } }: { readonly entry: Undone }) {
  return (
    <p className={outcome === 'failed' ? 'run-error' : 'dim'}>
      {outcome === 'failed' ? 'Undo failed' : 'Undone'} <When at={at} />
      {error && (
        <>
          : <code>{error.code}</code> <Text value={error.message} max={400} />
        </>
      )}
    </p>
  );
}

/** Undefined for a failed step, which makes no checkpoint. */
function checkpointOf(state: GraphStepState) {
  return state.phase === 'done' && state.outcome !== 'failed' ? state.seq : undefined;
}

interface FurtherProps {
  readonly stepKey: string;
  readonly checkpoint: number | undefined;
  readonly hasLogs: boolean;
}

function Further({ stepKey, checkpoint, hasLogs }: FurtherProps) {
  return (
    <p className="row further">
      {checkpoint !== undefined && (
        <ViewLink to={{ tab: 'checkpoints', checkpoint: String(checkpoint) }}>
          Checkpoint {checkpoint}
        </ViewLink>
      )}
      <ViewLink to={{ tab: 'journal', of: stepKey }}>Its events</ViewLink>
      {hasLogs && <ViewLink to={{ tab: 'logs', of: stepKey }}>What it logged</ViewLink>}
    </p>
  );
}

/** More would push the panel's main content out of view. */
const MAX_NEEDS = 30;

function Needs({ ids, onSelect }: { readonly ids: readonly string[]; onSelect(id: string): void }) {
  return (
    <p className="needs">
      <span className="dim">Depends on</span>{' '}
      {ids.slice(0, MAX_NEEDS).map((id) => (
        <StepLink key={id} id={id} onSelect={onSelect} />
      ))}
      {ids.length > MAX_NEEDS && <span className="dim">and {ids.length - MAX_NEEDS} more</span>}
    </p>
  );
}

function StepLink({ id, onSelect }: { readonly id: string; onSelect(id: string): void }) {
  return (
    <button type="button" className="link" onClick={() => onSelect(id)}>
      <bdi>{visibleText(id)}</bdi>
    </button>
  );
}
