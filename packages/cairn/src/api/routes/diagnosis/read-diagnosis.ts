/**
 * `GET /v1/diagnosis`: how the installation fares. For admins, as it speaks of all tenants together; it names no tenant
 * and no run.
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
    const { clock, log } = start;
    this.#diagnostician = new Diagnostician({
      ...deps.diagnosis,
      census,
      schedules,
      config,
      registry,
      clock,
      log,
    });
  }

  /** @throws CairnError FORBIDDEN, INVALID_INPUT; UNAVAILABLE if nothing can be seen */
  async answer(caller: Caller, url: string): Promise<Response> {
    assertRole(caller, 'admin');
    readQuery(url, []);
    const { version, environment, diagnosis } = this.#deps;
    const { project, publishes } = diagnosis.setup;
    const looked = await this.#diagnostician.look();
    return Response.json(diagnosisView(looked, { version, environment, project, publishes }));
  }
}
