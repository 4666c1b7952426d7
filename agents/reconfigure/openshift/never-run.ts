/** What a person who ships a node of OpenShift must know. */
export const NEVER_RUN =
  'On OpenShift this was never run on a host of CoreOS: relocate one of your own before you ship any';
