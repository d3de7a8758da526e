/**
 * Carries out the commands of a dispatch. This is the one place where something is awaited for an execution apart from its own
 * code: each command ends with a message, and what follows is decided from that.
 */
import type { RecordedError } from '../../core/run/events.ts';
import { stepKey } from '../../core/run/state.ts';
import { EffectMoved } from '../../journal/run-journal.ts';
import { sendUntilKnown } from '../../journal/send-until-known.ts';
import { askAbout } from '../effects/asking.ts';
import { NO_OUTPUT, type Outcome, type Output, storeIfLarge } from '../facts/output.ts';
import {
  type Command,
  type DoneItem,
  type Executed,
  type ExecutionChange,
  type Message,
  MOVED,
} from './messages.ts';
import { loadOutputs, outputsAt } from './outputs.ts';
import type { FanOutSet } from './sets/fan-out-set.ts';
import type { Announcer } from './waiting/announcer.ts';
import type { Working } from './working.ts';

export class CommandRunner {
  readonly #working: Working;
  readonly #announcer: Announcer;

  constructor(working: Working, announcer: Announcer) {
    this.#working = working;
    this.#announcer = announcer;
  }

  run(command: Command): Promise<Message> {
    switch (command.kind) {
      case 'record': {
        const recording = this.#record(command.change);
        return command.change.opening ? this.#announcer.track(recording) : recording;
      }
      case 'announce':
        return this.#announcer.track(this.#announce(command));
      case 'keep':
        return this.#keep(command);
      case 'find_question':
        return this.#findQuestion(command);
      case 'leave_mailbox':
        return this.#announcer.leave(command.place).then(() => MOVED);
      case 'cancel_children':
        return this.#cancelChildren(command);
      case 'read_outcome':
        return this.#readOutcome(command.executed);
      case 'read_results':
        return this.#readResults(command.set, command.done);
    }
  }

  async #record(change: ExecutionChange): Promise<Message> {
    const working = this.#working;
    const { execution, decide, otherwise, opening, ifEffectMoved } = change;
    const { stepId, revision } = execution;
    let consequence = otherwise;
    if (opening) working.waits.opening(opening);
    try {
      await working.journal.append((state) => {
        consequence = otherwise;
        const isOutdated = (state.steps.get(stepId)?.revision ?? revision) > revision;
        if (isOutdated || !working.mayAppend(state)) return [];
        const decided = decide(state);
        consequence = decided.consequence;
        return decided.facts;
      });
      return { kind: 'recorded', change, consequence };
    } catch (error) {
      if (!(error instanceof EffectMoved) || !ifEffectMoved) throw error;
      return { kind: 'effect_moved', change: ifEffectMoved() };
    } finally {
      if (opening) working.waits.opened(opening);
    }
  }

  async #announce({ wait }: Extract<Command, { kind: 'announce' }>): Promise<Message> {
    return { kind: 'announced', ...(await this.#announcer.announce(wait)) };
  }

  /** Makes an output durable that no checkpoint can carry, before the commit that refers to it. */
  async #keep({ ending }: Extract<Command, { kind: 'keep' }>): Promise<Message> {
    const { outcome } = ending;
    const output = outcome.kind === 'done' ? await this.storeOutput(outcome.output) : NO_OUTPUT;
    return { kind: 'output_stored', ending, output };
  }

  storeOutput(output: Output): Promise<Output> {
    const { deps, runId } = this.#working;
    return sendUntilKnown(deps, () => storeIfLarge(deps.store, runId, output));
  }

  async #findQuestion({ ended, doubt }: Extract<Command, { kind: 'find_question' }>): Promise<Message> {
    const ask = await askAbout(this.#working.deps, doubt.open);
    return { kind: 'question_found', ended, ask, error: doubt.error };
  }

  async #cancelChildren({
    runIds,
    message,
  }: Extract<Command, { kind: 'cancel_children' }>): Promise<Message> {
    const { deps, journal } = this.#working;
    for (const runId of runIds) await deps.otherRuns.cancelChild(journal.state, runId);
    return message ?? MOVED;
  }

  async #readOutcome(executed: Executed): Promise<Message> {
    return { kind: 'outcome_read', executed, outcome: await this.#outcomeOf(executed) };
  }

  /** Undefined: the step was sent back meanwhile. */
  async #outcomeOf({ unit, execution }: Executed): Promise<Outcome | undefined> {
    const { deps, journal, outputs, runId } = this.#working;
    const step = journal.state.steps.get(stepKey(execution));
    if (step?.phase !== 'done') return undefined;
    if (step.outcome === 'skipped') return { kind: 'skipped' };
    if (step.outcome === 'failed') return { kind: 'failed', error: await this.#errorAt(step.seq) };
    const isWanted = unit.item !== undefined || outputs.wants(unit.step.id);
    const [output = NO_OUTPUT] = isWanted ? await loadOutputs(deps.store, runId, [step.seq]) : [];
    return { kind: 'done', output };
  }

  async #errorAt(seq: number): Promise<RecordedError> {
    const { deps, runId } = this.#working;
    const [event] = await deps.store.readEvents(runId, seq - 1, 1);
    if (event?.type !== 'step_failed') throw new Error(`run ${runId}: event ${seq} is not a failure`);
    return event.data.error;
  }

  /** Stops once the results exceed the limit together, because all of them might not fit into the memory of a worker. */
  async #readResults(set: FanOutSet, done: readonly DoneItem[]): Promise<Message> {
    const { deps, runId } = this.#working;
    const seqs = done.map(({ seq }) => seq);
    let at = 0;
    for await (const output of outputsAt(deps.store, runId, seqs)) {
      const item = done[at++];
      if (item) set.settle(item.index, { kind: 'done', output });
      if (set.isTooLarge) break;
    }
    return { kind: 'results_read', set };
  }
}
