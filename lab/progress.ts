/** Lists that are redrawn on a terminal; otherwise one line per event. */
export function listOptions() {
  return {
    // The lab tears itself down when interrupted; listr2 would exit immediately.
    registerSignalListeners: false,
    fallbackRenderer: 'verbose',
    fallbackRendererCondition: () => !process.stdout.isTTY,
  } as const;
}
