/** The names of the scripts that gather replaces: by these the installer calls it, over SSH too. */
export const scriptNames = [
  'installer-gather.sh',
  'installer-masters-gather.sh',
  'installer-master-bootstrap-in-place-gather.sh',
] as const;
