/**
 * `GET /v1/diagnosis`: the state of the installation. Its numbers are sums over all tenants, so it requires the role `installation`. It
 * names no tenant and no run.
 */
import type { ReadHandler } from '../../route.ts';
import { diagnosisView } from '../../views/diagnosis.ts';

/** @throws CairnError UNAVAILABLE if nothing could be determined */
export const readDiagnosis: ReadHandler<'GET /v1/diagnosis'> = async ({ deps, instance }) => {
  const { version, environment, diagnosis } = deps;
  const { project, publishes } = diagnosis.setup;
  return diagnosisView(await instance.diagnostician.diagnose(), { version, environment, project, publishes });
};
