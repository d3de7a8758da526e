/**
 * Functions with an agent whose tool calls a receiver that kills the worker during the call. There are three kinds of receivers:
 * with idempotency keys, with a lookup of outcomes, and with neither.
 */
import { capabilitiesOf, defineTool, runAgent, scriptedModel } from '@cairn/agents';
import { defineBinding, defineCapability, defineWorkflow } from 'cairn';
import { cairnFunctions } from 'cairn/functions';
import { z } from 'zod';
import { type Kind, RECEIVER_ENV } from './receiver.ts';

const request = z.object({ order: z.string() });

function capabilityOf(kind: Kind) {
  return defineCapability({
    id: `charge.${kind}`,
    sideEffects: 'external_action',
    idempotency: kind === 'dedupes' ? 'required' : 'not_supported',
    request,
    response: z.object({ charged: z.boolean() }),
  });
}

const capabilities = {
  dedupes: capabilityOf('dedupes'),
  'looked-up': capabilityOf('looked-up'),
  silent: capabilityOf('silent'),
};

const bindings = Object.entries(capabilities).map(([kind, capability]) =>
  defineBinding(capability, {
    id: `charge.${kind}.here`,
    async call({ order }, { idempotencyKey, signal }) {
      const body = JSON.stringify({ kind, order, key: idempotencyKey, pid: process.pid });
      const response = await fetch(`${receiver()}/charge`, { method: 'POST', body, signal });
      if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
      return { charged: true };
    },
    ...(kind === 'looked-up' && {
      async lookup({ order }, { signal }) {
        const response = await fetch(`${receiver()}/charges/${order}`, { signal });
        if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
        const { times } = (await response.json()) as { times: number };
        return times > 0 ? { found: true, response: { charged: true } } : { found: false };
      },
    }),
  }),
);

function receiver(): string {
  const url = process.env[RECEIVER_ENV];
  if (!url) throw new Error(`${RECEIVER_ENV} must have the address of the receiver`);
  return url;
}

const tools = Object.entries(capabilities).map(([kind, capability]) =>
  defineTool({ name: `charge-${kind}`, description: `Charges an order (${kind}).`, capability }),
);

const chargingAgent = defineWorkflow({
  type: 'charging-agent',
  planVersion: 1,
  input: z.object({ order: z.string(), kind: z.enum(['dedupes', 'looked-up', 'silent']) }),
  uses: capabilitiesOf(tools),
  run: async (flow, { order, kind }) => {
    const model = scriptedModel([
      { calls: [{ name: `charge-${kind}`, input: { order } }] },
      { text: 'The order is charged.' },
    ]);
    const { text } = await runAgent(flow, { model, tools, prompt: `Charge order ${order}.` });
    return text;
  },
});

export const { api, drive, driveAlone, recoverRuns } = cairnFunctions({
  workflows: [chargingAgent],
  bindings,
});
