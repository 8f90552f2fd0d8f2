/** How a worker is told what it shares with its parent. It takes them out of its environment when it starts. */

/** The exchange folder. */
export const EXCHANGE_VARIABLE = 'WAKECHART_WORKER_EXCHANGE';
/** The descriptor of a pipe that ends with the parent. */
export const LIFELINE_VARIABLE = 'WAKECHART_WORKER_LIFELINE';
