/** Reports missing parameters and generated secrets once, although every load of a codebase finds them again. */
import type { PlanFinding } from '../changed-plans.ts';
import { unsetMessage } from './env-files.ts';
import type { ParsedLogLine } from './log-line.ts';

interface ReportsOptions {
  /** Folder of the `.env` files of a codebase, as a person writes it. */
  settingsOf(codebase: string): string;
  warn(event: string, message: string, fields: ParsedLogLine['fields']): void;
}

export class LoadReports {
  readonly #options: ReportsOptions;
  readonly #generated = new Set<string>();
  /** Parameters without a value at the last load of each codebase. */
  readonly #unset = new Map<string, ReadonlySet<string>>();

  constructor(options: ReportsOptions) {
    this.#options = options;
  }

  findings(findings: readonly PlanFinding[]): void {
    for (const { kind, message, type, planVersion, liveRuns, runs } of findings) {
      const event = kind === 'changed' ? 'plans_changed' : 'version_missing';
      this.#options.warn(event, message, { type, planVersion, liveRuns, runs });
    }
  }

  /** @param secrets names of the secrets that got generated values */
  generated(secrets: readonly string[]): void {
    const news = secrets.filter((name) => !this.#generated.has(name));
    if (news.length === 0) return;
    for (const name of news) this.#generated.add(name);
    const message = `not in .secret.local, using generated values: ${news.join(', ')}`;
    this.#options.warn('secrets_made_up', message, { secrets: news });
  }

  /** Reports a parameter again once it has had a value. */
  unset(codebase: string, parameters: readonly string[]): void {
    const before = this.#unset.get(codebase);
    this.#unset.set(codebase, new Set(parameters));
    const news = parameters.filter((one) => !before?.has(one));
    if (news.length === 0) return;
    const message = unsetMessage(codebase, news, this.#options.settingsOf(codebase));
    this.#options.warn('parameters_unset', message, { codebase, parameters: news });
  }
}
