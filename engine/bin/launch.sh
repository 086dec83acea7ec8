# Starts a program of ours on Node with a heap that fits the machine. Sourced by the launchers beside it and by the console's.
#
# V8's heap limit cannot be raised while it runs, and its default is 4 GB or less whatever the machine has. So a launcher
# finds out what there is and replaces itself by node (exec): one process, with the pid, signals and streams of the launcher.
# Only builtins of the shell are used, except where there is no /proc.

# Lowers $limit_kb to what the files $3... in the folder $1 say, in bytes, and those in the folders above it up to $2.
lower_to() {
  where=$1
  top=$2
  shift 2
  while :; do
    for name in "$@"; do
      bytes=
      [ -r "$where/$name" ] && read -r bytes <"$where/$name"
      case $bytes in
        "" | *[!0-9]*) ;; # no such file, or "max"
        *) [ ${#bytes} -lt 19 ] && [ $((bytes / 1024)) -lt "$limit_kb" ] && limit_kb=$((bytes / 1024)) ;;
      esac
    done
    [ "$where" = "$top" ] && return
    case $where in
      "$top"/*) where=${where%/*} ;;
      *) return ;;
    esac
  done
}

# Sets $limit_kb to the memory of this machine, or of the container if that is less; 0 if nobody knows. For tests, $1 is a
# folder to look in instead of /.
find_memory() {
  root=$1
  limit_kb=0
  if [ -r "$root/proc/meminfo" ]; then
    while read -r name value _; do
      [ "$name" = MemTotal: ] && limit_kb=$value && break
    done <"$root/proc/meminfo"
  else
    bytes=$(sysctl -n hw.memsize 2>/dev/null || sysctl -n hw.physmem 2>/dev/null)
    case $bytes in
      "" | *[!0-9]*) ;;
      *) limit_kb=$((bytes / 1024)) ;;
    esac
  fi
  [ "$limit_kb" -gt 0 ] || return 0
  cgroups=$root/sys/fs/cgroup
  [ -r "$root/proc/self/cgroup" ] || return 0
  while IFS=: read -r _ controllers group; do
    case ,$controllers, in
      ,,) # version 2
        base=$cgroups
        [ -d "$cgroups/unified" ] && base=$cgroups/unified
        lower_to "$base" "$base" memory.max memory.high
        lower_to "$base${group%/}" "$base" memory.max memory.high
        ;;
      *,memory,*) # version 1; in a container its own group is at the top
        lower_to "$cgroups/memory" "$cgroups/memory" memory.limit_in_bytes
        lower_to "$cgroups/memory${group%/}" "$cgroups/memory" memory.limit_in_bytes
        ;;
    esac
  done <"$root/proc/self/cgroup"
}

# Sets $heap_mb to the heap for so many kilobytes of memory: three quarters of it, and on large machines all but 4 GB. The
# rest is for what is outside the heap: young objects, buffers, strings of more than a megabyte, Node itself, other programs.
find_heap() {
  rest_kb=$(($1 / 4))
  [ "$rest_kb" -gt 4194304 ] && rest_kb=4194304
  heap_mb=$((($1 - rest_kb) / 1024))
}

# Sets $stack to the flag for Lua's depth of calls: half of the stack that the kernel gives, where that is the usual 8 MB or
# more; empty where it is less. Node's own default is one megabyte, whatever the kernel gives.
find_stack() {
  stack=
  case $1 in
    unlimited) stack=--stack-size=3900 ;;
    "" | *[!0-9]*) ;;
    *) [ "$1" -ge 8000 ] && stack=--stack-size=3900 ;;
  esac
}

# Becomes node with the program $1 and its arguments. A heap that the user has chosen stays. New objects get 4 MB instead of 16,
# of which V8 keeps two resident; and going through them while clients write is its longest pause.
launch() {
  find_stack "$(ulimit -s 2>/dev/null)"
  young=--max-semi-space-size=4
  case $NODE_OPTIONS in
    *max-semi-space-size* | *max_semi_space_size*) young= ;;
  esac
  case $NODE_OPTIONS in
    *max-old-space-size* | *max_old_space_size*) exec node $stack $young "$@" ;;
  esac
  find_memory ""
  [ "$limit_kb" -gt 0 ] || exec node $stack $young "$@"
  find_heap "$limit_kb"
  exec node $stack $young --max-old-space-size="$heap_mb" "$@"
}
