# Finds the program on a host, or downloads it, and runs it. One or two login shells, such as csh and fish, pass it to sh. So
# it is sent as one line without comments, in single quotes: it must not contain single quotes, exclamation marks or two
# backslashes in a row. Words in @ are replaced.

# It starts few processes: a hundred hosts may be containers on one machine, and each process costs some milliseconds.

fail() { echo "mob: $1" >&2; exit 1; };
first() { for f; do if command -v "$f" >/dev/null; then return 0; fi; done; f=; return 1; };
send() { printf "\036%s\n" "$1"; };
set -f;
d=;
# A signal may reach all processes of the script while rm runs, and may end a shell that is exiting.
clean() { trap "" HUP INT PIPE TERM; if [ -e "$d" ]; then rm -rf "$d"; fi; };
trap clean EXIT;
trap "clean; exit 1" HUP INT PIPE TERM;

# The output of uname. Newer kernels have it in files, too.
u=;
f=;
{ read -r u && read -r f <&3; } 2>/dev/null </proc/sys/kernel/ostype 3</proc/sys/kernel/arch;
if [ "$f" ]; then u="$u $f"; else u=$(uname -sm); fi;
case $u in
@PLATFORMS@
*) send "{\"need\":\"$u\"}"; exit 1;;
esac;

# The suffix of the name of the directory. It is not in the command line, which other users can read.
m=;
read -r m;
[ "$m" ] || fail "lost the caster";

# A new private directory below one in which no other user can replace it: it belongs to this user or root, and no other user
# can write there (a private group has the number of the user), or the sticky bit is set. Files in it must be executable, which an empty program tests: the shell
# runs it as a script. The header of df has 7 words.
w=;
guarded() {
	set -- $(LC_ALL=C ls -dln "$t/.");
	if [ "$3" = 0 ] || [ -O "$t" ]; then
		case $1 in d????????[tT]*|d????-??-*) return 0;; d???????-*) if [ "$3" = "$4" ]; then return 0; fi;; esac;
	fi;
	w="$w, other users can change $t";
	return 1;
};
fits() {
	: >"$d/$n" && chmod 700 "$d/$n" || { w="$w, $t is full"; return 1; };
	"$d/$n" || { w="$w, nothing can be executed in $t"; return 1; };
	set -- $(LC_ALL=C df -Pk "$d");
	if [ "${11}" -lt "$k" ]; then w="$w, $t has no $k KiB free"; return 1; fi;
	return 0;
};
for t in "$TMPDIR" /tmp /var/tmp /dev/shm "$XDG_RUNTIME_DIR" "$HOME/.cache" "$HOME"; do
	case $t in /*) ;; *) continue;; esac;
	e=$t/mob.;
	d=$e$m;
	if mkdir -m 700 "$d" 2>/dev/null; then
		if { guarded && fits; } 2>/dev/null; then break; fi;
		rm -rf "$d";
	else
		w="$w, $t cannot be written";
	fi;
	d=;
done;
[ "$d" ] || fail "no directory for the program: ${w#, }";

# A program of this build that the host has: p is its path on the host of the caster, c in the cache. It is copied before
# its SHA-256 is computed, since other users may be able to change the file. i and j are the sums of the program as it was
# built and as it is copied to hosts, z the most blocks of 64 KiB. Of the programs that compute sums, openssl is the
# fastest. dd takes a quarter of the time of head.
sum() { (openssl dgst -sha256 -r || sha256sum || shasum -a 256) <"$1" 2>/dev/null; };
has() {
	[ -f "$1" ] && [ -x "$1" ] && dd bs=65536 count="$z" <"$1" >"$d/$n" 2>/dev/null || return;
	case $(sum "$d/$n") in "$i"*|"$j"*) x=$d/$n;; *) return 1;; esac;
};
c=${XDG_CACHE_HOME:-$HOME/.cache}/mob/$n-$v;
x=;
y=;
if first openssl sha256sum shasum; then
	y=1;
	has "$p" || { first "$n" && has "$(command -v "$n")"; } || has "$c";
fi;

# The archive of s bytes, in $d/a. Without a program that computes its sum, only the remote shell delivers it, and gzip checks it.
# Each message is a line. The archive follows "put", and then nothing until the answer, since head may read ahead. In "get", l is
# the path at a neighbor and its addresses. A neighbor may send more than s bytes, and an endless header: bash reads at most
# 4 KiB of it.
fetch() {
	for f in ${l#* }; do
		case $g in
		curl) curl -q -fgsS --noproxy "*" --connect-timeout 3 -y 10 -Y 10000 "http://$f/${l%% *}";;
		wget) unset http_proxy; echo "max_redirect = 0" >"$d/w"; WGETRC=$d/w wget -q -t 1 -T 10 -O - "http://$f/${l%% *}";;
		bash)
			q=${f%:*};
			q=${q#\[};
			bash -c "exec 3<>/dev/tcp/\$0/\$1 || exit; printf \"GET /%s HTTP/1.0\r\n\r\n\" \$2 >&3;
				head -c \$3 <&3 | { n=0; while read -r -n 4096 l && [ \${#l} -gt 1 ] && [ \$((n += \${#l})) -lt 4096 ]; do :; done; cat; }" "${q%\]}" "${f##*:}" "${l%% *}" $((s + 4096));;
		esac | head -c "$s" >"$d/a";
		if [ -s "$d/a" ]; then return; fi;
	done;
};
if [ -z "$x" ]; then
	first gzip || fail "gzip is missing";
	g=;
	if [ "$y" ] && first curl wget bash; then g=$f; fi;
	send "{\"need\":\"$u\",\"by\":\"$g\"}";
	while :; do
		read -r o h s l || fail "lost the caster";
		case $o in
		put) head -c "$s" >"$d/a" || fail "the program cannot be written to $t";;
		get) fetch;;
		*) fail "unknown message $o";;
		esac;
		if [ -z "$y" ]; then break; fi;
		case $(sum "$d/a") in "$h"*) break;; esac;
		rm -f "$d/a";
		send "{\"failed\":true}";
	done;
	send "{\"got\":true}";
	x=$d/$n;
	gzip -dc <"$d/a" >"$x" || fail "the program cannot be unpacked in $t";
	if [ @KEEP@ ]; then mkdir -p "${c%/*}" && cp "$x" "$c.$$" && mv "$c.$$" "$c" || rm -f "$c.$$"; fi;
fi;

# Timer slack of 2 ms saves a Go program a tenth of its CPU time. mobd sets it too.
{ echo 2000000 >/proc/self/timerslack_ns; } 2>/dev/null;

MOB_AGENT_DIR=$d MOB_AGENT_ATTACH=@ATTACH@ "$x" $a;
r=$?;
case $r in 126|127) echo "mob: the program does not run on this host" >&2;; esac;
exit $r;
