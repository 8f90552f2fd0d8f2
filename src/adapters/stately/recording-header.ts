/** Names the recording that a sender sends, so that no receiver takes in what comes from itself. */

export const RECORDING_HEADER = 'x-wakechart-recording';
