/** The agent side of the ACP SDK, loaded when one is served: it is an optional peer. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';

const PACKAGE = '@agentclientprotocol/sdk';

export type AcpAgentSdk = Pick<
  typeof import('@agentclientprotocol/sdk'),
  'agent' | 'ndJsonStream' | 'RequestError' | 'PROTOCOL_VERSION'
>;

/** @throws RuntimeError ACP_SDK_MISSING saying what to install */
export async function loadAcpAgentSdk(): Promise<AcpAgentSdk> {
  try {
    return await import('@agentclientprotocol/sdk');
  } catch (error) {
    throw new RuntimeError(
      'ACP_SDK_MISSING',
      `serving ACP needs the package ${PACKAGE}, which could not be loaded: ${messageOf(error)}`,
      {
        category: 'not_found',
        hint: `Install it beside wakechart: npm install ${PACKAGE}@^2.4.0`,
        cause: error,
      },
    );
  }
}
