/** Lists that redraw themselves on a terminal, and print a line an event anywhere else. */
export function listOptions() {
  return {
    // The lab tears down by itself when it is interrupted; listr2 would exit at once.
    registerSignalListeners: false,
    fallbackRenderer: 'verbose',
    fallbackRendererCondition: () => !process.stdout.isTTY,
  } as const;
}
