/** Reports versions that block runs. Each save of a file checks again, so unchanged findings of an API are reported once. */
import { type Ask, type PlanFinding, planFindings } from './changed-plans.ts';

export class PlanReports {
  readonly #report: (findings: readonly PlanFinding[]) => void;
  /** Messages of the last check by API. */
  readonly #last = new Map<string, ReadonlySet<string>>();

  /** @param report gets at least one finding */
  constructor(report: (findings: readonly PlanFinding[]) => void) {
    this.#report = report;
  }

  /**
   * @param api name of the function that `ask` asks
   * @throws Error if the functions do not answer, or refuse the request
   */
  async check(api: string, ask: Ask): Promise<void> {
    const findings = await planFindings(ask);
    const before = this.#last.get(api);
    this.#last.set(api, new Set(findings.map(({ message }) => message)));
    const news = findings.filter(({ message }) => !before?.has(message));
    if (news.length > 0) this.#report(news);
  }
}
