#include "cli/batch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <ostream>
#include <system_error>
#include <thread>

#include "base/format.h"
#include "base/text.h"
#include "cli/fd_stream.h"
#include "cli/getter.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/read_config.h"
#include "report/json_writer.h"

namespace lmsize::cli {
namespace {

// What one input has become.
struct Piece {
  std::string out, err;
  int status = 0;
  bool warned = false, assumed = false;
  bool silent = false;  // nothing is shown of this input
};

// What a block has become.
struct Pieces {
  std::vector<Piece> pieces;
  std::string notes;
  bool flush = false;  // nothing more may come for a while
};

// What --summary tells, and the progress line.
struct Tally {
  using Clock = std::chrono::steady_clock;

  Int inputs = 0, assumed = 0, warned = 0, failed = 0;
  Clock::time_point begin = Clock::now();

  void add(const Piece& piece) {
    ++inputs;
    assumed += piece.assumed;
    warned += piece.warned;
    failed += piece.status >= 2;
  }

  double seconds() const { return std::max(std::chrono::duration<double>(Clock::now() - begin).count(), 1e-6); }
  std::string rate() const { return grouped(static_cast<Int>(static_cast<double>(inputs) / seconds())); }

  std::string progress() const {
    return format_text("{}, {} a second, {} failed", counted(inputs, "input"), rate(), grouped(failed));
  }
  std::string summary() const {
    return format_text("lmsize: {}: {} exact, {} assumed, {} failed; {} with warnings; {:.2f} s, {} a second\n",
                       counted(inputs, "input"), grouped(inputs - assumed - failed), grouped(assumed), grouped(failed),
                       grouped(warned), seconds(), rate());
  }
};

// One walk over the inputs. Every thread takes a block of them, makes pieces of it and gives these back; whoever holds
// the pieces that come next writes them.
class Batch {
 public:
  Batch(const BatchOptions& options, Streams& streams, const Rendering& rendering)
      : options_(options),
        streams_(streams),
        rendering_(rendering),
        inputs_(options, streams.in),
        output_(options.output, streams.out),
        progress_(streams.err, options.output.value_or("-") != "-" || !is_terminal(streams.out)) {
    if (options.get) getter_.emplace(*options.get);
    if (options.format == Format::jsonl && !options.get) after_ = "\n";
    if (options.format == Format::json) between_ = ",\n";
    if (options.format == Format::table || options.format == Format::text) between_ = "\n";
    if (rendering.between) between_ = *rendering.between;
  }

  int run() {
    output_.stream() << rendering_.header;
    if (options_.format == Format::json) output_.stream() << "{\"schema\":\"lmsize/1\",\"models\":[\n";
    work(true);
    for (std::thread& helper : helpers_) helper.join();
    if (fault_) std::rethrow_exception(fault_);

    progress_.wipe();
    write_end();
    const int interrupt = noted_interrupt();
    if (status_ != 2 && interrupt == 0) output_.commit();  // wrong usage and half a result leave the old file as it is
    output_.stream().flush();
    if (options_.summary) streams_.err << tally_.summary();
    if (interrupt != 0) streams_.err << format_text("lmsize: interrupted after {}\n", counted(tally_.inputs, "input"));
    return interrupt != 0 ? 128 + interrupt : status_;
  }

 private:
  static constexpr std::size_t kBlocksAhead = 64;  // that wait for an earlier one to be written, at most

  void work(bool first) {
    try {
      while (true) {
        std::size_t number = 0;
        Block block = take(number, first);
        if (block.is_end()) return;
        Pieces made{{}, std::move(block.notes), !block.full};
        made.pieces.reserve(block.items.size());
        for (Item& item : block.items) made.pieces.push_back(piece_of(item));
        give(number, std::move(made));
      }
    } catch (...) {  // no fault of one input, as memory that is short: it ends the walk
      const std::lock_guard lock(giving_);
      stop(std::current_exception());
    }
  }

  // With giving_ locked: the first fault is the one that is told.
  void stop(std::exception_ptr fault) {
    if (!stopped_) fault_ = std::move(fault);
    stopped_ = true;
    given_some_.notify_all();
  }

  // The next block of inputs, and which it is. The first thread calls helpers once there is enough to do.
  Block take(std::size_t& number, bool first) {
    Block block;
    {
      const std::lock_guard lock(taking_);
      if (stopped_ || noted_interrupt() != 0) return block;
      try {
        block = inputs_.next_block();
      } catch (const Interrupted&) {
        return {};
      }
      if (block.is_end()) return block;
      number = taken_++;
      if (first && block.full && helpers_.empty()) call_helpers();
    }
    std::unique_lock lock(giving_);
    given_some_.wait(lock, [&] { return stopped_ || number < given_ + kBlocksAhead; });
    return block;
  }

  void call_helpers() {
    const Int jobs = options_.jobs ? *options_.jobs : std::clamp<Int>(std::thread::hardware_concurrency(), 1, 4);
    try {
      for (Int helper = 1; helper < jobs; ++helper) helpers_.emplace_back([this] { work(false); });
    } catch (const std::system_error&) {  // no more threads to be had: those that are there do the work
    }
  }

  Piece piece_of(Item& item) {
    Piece piece;
    Config config;
    try {
      read_config(item, options_, config);
      piece.status = rendering_.config(config, piece.out);
      piece.silent = piece.out.empty();
      if (getter_ && !piece.silent) piece.out = getter_->line_of(piece.out);
      if (options_.strict && rendering_.messages && !(config.log.warnings.empty() && config.log.assumptions.empty()))
        piece.status = std::max(piece.status, 1);
      if (rendering_.messages && !options_.quiet)
        for (const Diagnostic& warning : config.log.warnings) append_message(item.source, warning, piece.err);
      piece.warned = !config.log.warnings.empty();
      piece.assumed = !config.log.assumptions.empty();
    } catch (const UsageError& fault) {
      piece = failed_piece({item.source, {"usage", Severity::error, fault.what(), "", {}}, true});
    } catch (const Error& fault) {
      const std::string excerpt = fault.excerpt.empty() ? config.document.excerpt(fault.diagnostic.at) : fault.excerpt;
      piece = failed_piece({item.source, fault.diagnostic, false, excerpt});
    } catch (const Interrupted&) {
      piece = failed_piece({item.source, {"interrupted", Severity::error, "interrupted while it was read", "", {}}});
    } catch (const InternalError& fault) {
      piece = failed_piece({item.source, {"internal", Severity::error, fault.what(), "", {}}});
    } catch (const std::bad_alloc&) {
      piece =
          failed_piece({item.source, {"out-of-memory", Severity::error, "needs more memory than there is", "", {}}});
    }
    return piece;
  }

  Piece failed_piece(const Failure& failure) const {
    Piece piece;
    piece.status = failure.usage ? 2 : 3;
    if (rendering_.failure)
      rendering_.failure(failure, piece.out);
    else if (options_.is_json())
      write_failure(failure, piece.out);
    if (getter_) piece.out.clear();
    if (rendering_.messages) append_message(failure.source, failure.error, piece.err);
    return piece;
  }

  // Writes these pieces, and those that waited for them, where they are next; else lets them wait.
  void give(std::size_t number, Pieces made) {
    const std::lock_guard lock(giving_);
    waiting_.emplace(number, std::move(made));
    try {
      while (!stopped_ && !waiting_.empty() && waiting_.begin()->first == given_) {
        write(waiting_.begin()->second);
        waiting_.erase(waiting_.begin());
        ++given_;
      }
    } catch (...) {  // the output cannot be written
      stop(std::current_exception());
    }
    given_some_.notify_all();
  }

  void write(const Pieces& made) {
    std::string messages;
    for (const Piece& piece : made.pieces) {
      if (getter_ && !piece.silent)
        write(getter_->in_order(piece.out));
      else
        write(piece.out);
      messages += piece.err;
      tally_.add(piece);
      status_ = std::max(status_, piece.status);
    }
    messages += made.notes;
    if (made.flush || !messages.empty()) output_.stream().flush();
    if (!messages.empty()) progress_.wipe();
    streams_.err << messages << std::flush;
    progress_.show([&] { return tally_.progress(); });
  }

  void write(std::string_view piece) {
    if (piece.empty()) return;
    std::ostream& out = output_.stream();
    if (std::exchange(written_, true)) out << between_;
    out << piece << after_;
  }

  // What is known only after the last input.
  void write_end() {
    std::string piece;
    if (rendering_.end) status_ = std::max(status_, rendering_.end(piece));
    write(getter_ ? getter_->end() : piece);
    if (options_.format == Format::json) output_.stream() << "\n]}\n";
    output_.stream() << rendering_.footer;
  }

  const BatchOptions& options_;
  Streams& streams_;
  const Rendering& rendering_;
  std::string_view between_, after_;  // pieces
  std::optional<Getter> getter_;

  std::mutex taking_;
  Inputs inputs_;
  std::size_t taken_ = 0;
  std::vector<std::thread> helpers_;

  std::mutex giving_;
  std::condition_variable given_some_;
  std::map<std::size_t, Pieces> waiting_;
  std::size_t given_ = 0;
  Output output_;
  Progress progress_;
  bool written_ = false;
  int status_ = 0;
  Tally tally_;
  std::exception_ptr fault_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace

int for_each_config(const BatchOptions& options, Streams& streams, const Rendering& rendering) {
  if (!options.has_input()) throw UsageError("nothing to read: give an INPUT (- is standard input) or shape flags");
  const InterruptNote note;
  return Batch(options, streams, rendering).run();
}

void write_failure(const Failure& failure, std::string& out) {
  const Diagnostic& error = failure.error;
  const auto place = [](std::size_t n) { return n == 0 ? std::nullopt : std::optional(n); };
  JsonWriter json(out);
  json.begin_object().member("source", failure.source.label).key("error").begin_object();
  json.member("message", error.message).member("rule", error.rule);
  json.member("line", place(error.at.line)).member("column", place(error.at.column));
  json.end_object().end_object();
}

}  // namespace lmsize::cli
