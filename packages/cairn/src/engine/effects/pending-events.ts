/**
 * Events about the effect calls of one attempt that are not in the journal yet. They are appended with its other events, so
 * that they need no commit of their own. Owns which effects have an end that this attempt knows.
 */
import type { EventDraft } from '../../core/run/events.ts';
import type { Decide } from '../../journal/batch.ts';
import type { Appended } from '../../journal/run-journal.ts';

/** Maximum number of events added to another append: a commit has room for 300 writes. */
const MAX_ALONG = 100;

export class PendingEvents {
  readonly #append: (decide: Decide) => Promise<Appended>;
  readonly #pending: EventDraft[] = [];
  readonly #endedEffects = new Set<string>();

  constructor(append: (decide: Decide) => Promise<Appended>) {
    this.#append = append;
  }

  note(drafts: readonly EventDraft[]): void {
    this.#pending.push(...drafts);
    this.#learn(drafts);
  }

  /** Events to append with the end of the attempt, up to the limit of one commit: see {@link flush}. */
  take(): EventDraft[] {
    return this.#pending.splice(0);
  }

  /** Appends, before the end of the attempt, the events that do not fit into the commit of that end. */
  async flush(): Promise<void> {
    while (this.#pending.length > MAX_ALONG) {
      const along = this.#pending.splice(0, MAX_ALONG);
      await this.#append(() => along);
    }
  }

  async append(decide: Decide): Promise<Appended> {
    const along = this.#pending.splice(0, MAX_ALONG);
    try {
      const appended = await this.#append((state) => {
        const drafts = decide(state);
        return drafts.length === 0 ? [] : [...along, ...drafts];
      });
      if (appended.events.length === 0) this.#pending.unshift(...along);
      this.#learn(appended.events);
      return appended;
    } catch (error) {
      this.#pending.unshift(...along);
      throw error;
    }
  }

  hasEnd(effectId: string): boolean {
    return this.#endedEffects.has(effectId);
  }

  #learn(events: readonly EventDraft[]): void {
    for (const { type, data } of events)
      if (type === 'effect_settled' && (data.outcome === 'recorded' || data.outcome === 'failed'))
        this.#endedEffects.add(data.effectId);
  }
}
