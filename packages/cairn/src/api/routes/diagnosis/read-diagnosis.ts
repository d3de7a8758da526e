/**
 * `GET /v1/diagnosis`: how the installation fares, in numbers that sum over all tenants, so it takes the role
 * `installation`. It names no tenant and no run.
 */
import { Diagnostician } from '../../../operations/diagnosis/diagnose.ts';
import { assertRole, type Caller } from '../../auth.ts';
import type { ApiDeps } from '../../deps.ts';
import { readQuery } from '../../query.ts';
import { diagnosisView } from '../../views/diagnosis.ts';

export class DiagnosisRoute {
  readonly #deps: ApiDeps;
  readonly #diagnostician: Diagnostician;

  constructor(deps: ApiDeps) {
    this.#deps = deps;
    const { census, schedules, config, registry, start } = deps;
    const { clock, log, plans } = start;
    this.#diagnostician = new Diagnostician({
      ...deps.diagnosis,
      census,
      schedules,
      config,
      registry,
      plans,
      clock,
      log,
    });
  }

  /** @throws CairnError FORBIDDEN, INVALID_INPUT; UNAVAILABLE if nothing can be seen */
  async answer(caller: Caller, url: string): Promise<Response> {
    assertRole(caller, 'installation');
    readQuery(url, []);
    const { version, environment, diagnosis } = this.#deps;
    const { project, publishes } = diagnosis.setup;
    const looked = await this.#diagnostician.look();
    return Response.json(diagnosisView(looked, { version, environment, project, publishes }));
  }
}
