/**
 * The functions of the kit. They are exported by their own names, so that an instance `orders` is deployed as `kit-orders-api`,
 * `kit-orders-drive` and so on, keeps its runs in collections that begin with `kit_orders_`, and meets no other instance.
 */
import { cairnFunctions } from 'cairn/functions';
import { assertInstanceId } from './instance-id.ts';
import { inDoubt, needsApproval, region, targetUrl, token } from './parameters.ts';

assertInstanceId(process.env.FIREBASE_KIT_INSTANCE_ID);

export const { api, drive, driveAlone, recoverRuns, fireSchedules, checkRuns, deleteExpired } =
  cairnFunctions({
    workflows: async () => {
      const { httpCallUnder } = await import('./http-call.ts');
      return [httpCallUnder(() => ({ approval: needsApproval(), inDoubt: inDoubt() }))];
    },
    bindings: async () => {
      const { callsTo } = await import('./receiver.ts');
      return callsTo({ url: () => targetUrl.value(), token: () => token.value(), now: () => Date.now() });
    },
    secrets: [token],
    region,
    console: true,
    runEventsTopic: '',
    // The codebase has no functions but these.
    managedAccount: true,
  });
