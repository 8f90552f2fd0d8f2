/**
 * The SDK of the Agent Client Protocol, loaded with the first run: it is an optional peer, and most runtimes never need
 * it.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';

const PACKAGE = '@agentclientprotocol/sdk';

export interface AcpSdk {
  readonly client: typeof import('@agentclientprotocol/sdk').client;
  readonly RequestError: typeof import('@agentclientprotocol/sdk').RequestError;
  readonly PROTOCOL_VERSION: typeof import('@agentclientprotocol/sdk').PROTOCOL_VERSION;
}

/** @throws RuntimeError ACP_SDK_MISSING saying what to install */
export async function loadAcpSdk(): Promise<AcpSdk> {
  try {
    const { client, RequestError, PROTOCOL_VERSION } = await import('@agentclientprotocol/sdk');
    return { client, RequestError, PROTOCOL_VERSION };
  } catch (error) {
    throw new RuntimeError(
      'ACP_SDK_MISSING',
      `agents that speak the Agent Client Protocol need the package ${PACKAGE}, which could not be loaded: ${messageOf(error)}`,
      {
        category: 'not_found',
        hint: `Install it beside wakechart: npm install ${PACKAGE}@^2.4.0`,
        cause: error,
      },
    );
  }
}
