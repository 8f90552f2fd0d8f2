/** What may happen to the connection to an MCP server, and who says so. */
import { chartEvents } from '../inspection/chart-events.ts';

const itself = 'the connection itself';

export const mcpConnectionEvents = chartEvents({
  commands: {
    CONNECT: {
      says: 'An agent needs the server: an attempt is to begin.',
      from: 'the connection itself, for the agent that uses it',
    },
    CLOSE: { says: 'It is to end for good.', from: 'the keeper of the connections of the agents' },
  },
  facts: {
    BACK_OFF: {
      says: 'An attempt or a short life before has failed: the next attempt waits for its moment.',
      from: itself,
    },
    CONNECTED: { says: 'The server has answered the handshake.', from: itself },
    GIVE_UP: { says: 'The attempt has failed in a way that another one would too.', from: itself },
    EXHAUST: { says: 'It has failed too often in a row, or for too long.', from: itself },
    COOLED: { says: 'The cool-down is over.', from: 'the connection itself, by its timer' },
    LOSE: { says: 'The server is gone, or no longer knows us.', from: itself },
    REST: {
      says: 'No agent has used it for a while, and it was released.',
      from: 'the connection itself, by its timer',
    },
  },
});
