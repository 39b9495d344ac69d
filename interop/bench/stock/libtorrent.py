"""Fetches or seeds a torrent with libtorrent, until it is killed.

Arguments: the torrent file or a magnet link, the folder of the content, the port to listen on,
and a file to create when the content is complete.
"""

import sys

import libtorrent as lt

torrent, data, port, mark = sys.argv[1:]

session = lt.session({
    "listen_interfaces": "0.0.0.0:" + port,
    "alert_mask": lt.alert.category_t.error_notification
    | lt.alert.category_t.status_notification
    | lt.alert.category_t.storage_notification,
    # Tracker and peer exchange find all peers.
    "enable_dht": False,
    "enable_lsd": False,
    "enable_upnp": False,
    "enable_natpmp": False,
    # The default prefers uTP, with which a transfer on this grid takes a fifth
    # longer and more than twice the CPU.
    "enable_outgoing_utp": False,
    "enable_incoming_utp": False,
})
if torrent.startswith("magnet:"):
    params = lt.parse_magnet_uri(torrent)
else:
    params = lt.add_torrent_params()
    params.ti = lt.torrent_info(torrent)
params.save_path = data
# An auto-managed torrent waits in a queue, and may be stopped again.
params.flags &= ~(lt.torrent_flags.auto_managed | lt.torrent_flags.paused)
handle = session.add_torrent(params)

while True:
    session.wait_for_alert(60_000)
    for alert in session.pop_alerts():
        if isinstance(alert, lt.torrent_finished_alert):
            # Pieces are checked in memory, possibly before they are written.
            handle.flush_cache()
        elif isinstance(alert, lt.cache_flushed_alert) and handle.status().is_seeding:
            open(mark, "w").close()
        elif isinstance(alert, lt.file_error_alert | lt.torrent_error_alert | lt.listen_failed_alert):
            sys.exit(alert.message())
