/**
 * Sizes of the functions: the option in the code; otherwise a parameter if the installation declares its parameters; otherwise
 * the default.
 */
import type { HttpsOptions } from 'firebase-functions/https';
import type { Expression } from 'firebase-functions/params';
import {
  apiMemoryMb,
  driveConcurrency,
  driveMaxInstances,
  driveMemoryMb,
  driveMinInstances,
  driveQueuePlaces,
  driveTimeoutSeconds,
  type Parameter,
  publicMaxInstances,
  slackMinInstances,
} from '../settings/parameters.ts';
import type { CairnOptions, DriveOptions } from './options.ts';

export type Size = number | Expression<number>;

type Sized = Pick<CairnOptions, 'parameters'>;

function sizeOf({ parameters }: Sized, parameter: Parameter<number>): Size {
  return parameters ? parameter.declare() : parameter.default;
}

/** Has a name, because published types cannot refer to the SDK's internal types. */
type DriveSizes = Required<
  Pick<HttpsOptions, 'memory' | 'timeoutSeconds' | 'concurrency' | 'minInstances' | 'maxInstances'>
> & { readonly queuePlaces: Size };

/** @param pool the class of workflows; the parameters apply only to workflows without a class */
export function driveSizes(options: Sized, given: DriveOptions, pool: string | undefined): DriveSizes {
  const by = pool === undefined ? options : {};
  return {
    memory: given.memory ?? memoryOf(by, driveMemoryMb),
    timeoutSeconds: given.timeoutSeconds ?? sizeOf(by, driveTimeoutSeconds),
    concurrency: given.concurrency ?? sizeOf(by, driveConcurrency),
    minInstances: given.minInstances ?? sizeOf(by, driveMinInstances),
    maxInstances: given.maxInstances ?? sizeOf(by, driveMaxInstances),
    queuePlaces: given.queuePlaces ?? sizeOf(by, driveQueuePlaces),
  };
}

export const apiSizes = (options: Sized) => ({
  memory: memoryOf(options, apiMemoryMb),
  maxInstances: sizeOf(options, publicMaxInstances),
});

export const githubSizes = (options: Sized) => ({ maxInstances: sizeOf(options, publicMaxInstances) });

export const slackSizes = (options: Sized) => ({
  minInstances: sizeOf(options, slackMinInstances),
  maxInstances: sizeOf(options, publicMaxInstances),
});

/** The SDK takes a number of MiB only as an expression. */
const memoryOf = ({ parameters }: Sized, parameter: Parameter<number>) =>
  parameters ? parameter.declare() : DEFAULT_MEMORY;
const DEFAULT_MEMORY = '1GiB' as const;
