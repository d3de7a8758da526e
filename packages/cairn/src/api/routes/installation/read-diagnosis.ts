/**
 * `GET /v1/diagnosis`: the state of the installation, in numbers that sum over all tenants, so it takes the role `installation`. It
 * names no tenant and no run.
 */
import type { ReadHandler } from '../../route.ts';
import { diagnosisView } from '../../views/diagnosis.ts';

/** @throws CairnError UNAVAILABLE if no question could be answered */
export const readDiagnosis: ReadHandler<'GET /v1/diagnosis'> = async ({ deps, instance }) => {
  const { version, environment, diagnosis } = deps;
  const { project, publishes } = diagnosis.setup;
  return diagnosisView(await instance.diagnostician.diagnose(), { version, environment, project, publishes });
};
