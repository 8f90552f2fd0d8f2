/** The SDK of A2A, loaded when an agent is served: it is an optional peer. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';

const PACKAGE = '@a2a-js/sdk';

export interface A2aSdk {
  readonly core: typeof import('@a2a-js/sdk');
  readonly server: typeof import('@a2a-js/sdk/server');
  readonly errors: typeof import('@a2a-js/sdk/errors');
  /** For clients that speak version 0.3. */
  readonly LegacyJsonRpcTransportHandler: typeof import('@a2a-js/sdk/compat/v0_3/server').LegacyJsonRpcTransportHandler;
}

/** @throws RuntimeError A2A_SDK_MISSING saying what to install */
export async function loadA2aSdk(): Promise<A2aSdk> {
  try {
    // One after the other: bundlers let a package be missing where its import alone is awaited in a `try`.
    const core = await import('@a2a-js/sdk');
    const server = await import('@a2a-js/sdk/server');
    const errors = await import('@a2a-js/sdk/errors');
    const { LegacyJsonRpcTransportHandler } = await import('@a2a-js/sdk/compat/v0_3/server');
    return { core, server, errors, LegacyJsonRpcTransportHandler };
  } catch (error) {
    throw new RuntimeError(
      'A2A_SDK_MISSING',
      `serving A2A needs the package ${PACKAGE}, which could not be loaded: ${messageOf(error)}`,
      { category: 'not_found', hint: `Install it beside wakechart: npm install ${PACKAGE}@^1.3.0`, cause: error },
    );
  }
}
