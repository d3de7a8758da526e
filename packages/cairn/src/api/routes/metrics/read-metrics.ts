/**
 * `GET /v1/metrics`: how the caller's runs fare, as Prometheus reads it. Of the caller's tenant only: the counts of another would tell
 * that it exists. For admins, since the counters are those of an instance, which serves all tenants.
 */
import type { ReadHandler } from '../../route.ts';
import { families } from './families.ts';
import { PROMETHEUS_TEXT, prometheusText } from './prometheus.ts';

export const readMetrics: ReadHandler<'GET /v1/metrics'> = async ({
  deps,
  instance,
  caller: { tenantId },
}) => {
  const active = await instance.activeRuns.of(tenantId);
  const text = prometheusText(families({ tenantId, active, counts: deps.counts.countsOf(tenantId) }));
  return new Response(text, { headers: { 'content-type': PROMETHEUS_TEXT } });
};
