/** The names of the scripts that gather replaces; the installer calls them, also over SSH. */
export const scriptNames = [
  'installer-gather.sh',
  'installer-masters-gather.sh',
  'installer-master-bootstrap-in-place-gather.sh',
] as const;
