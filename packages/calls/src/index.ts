/**
 * The functions of the kit, exported by their own names. An instance `orders` is deployed as `kit-orders-api`, `kit-orders-drive`
 * and so on, and its collections begin with `kit_orders_`, so that instances are separate.
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
    // The codebase has no other functions.
    managedAccount: true,
  });
