/** The path under which a handler is mounted: none, or one such as /agent. */
export const BASE_PATH = /^(?:\/[\w.~-]+)*$/;
